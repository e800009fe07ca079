//! Export of a PostgreSQL database to an SQLite file, and import from one.
//!
//! **Invariants:** an export reads all tables in one repeatable-read transaction. An import is one
//! transaction on a database without content, whose tables are locked meanwhile.

use std::path::Path;

use rhae_protocol::DatabaseCounts;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Connection as _, Executor, Postgres, Row};

use crate::postgres::{rows, schema, session};
use crate::sqlite::copy;
use crate::tables::{Kind, TABLES, Table};
use crate::{PostgresAddress, StoreError};

/// Reading and writing everything takes longer than the statements of a server.
const NO_TIMEOUTS: &str =
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Writes all tables to a new SQLite file.
pub(crate) async fn export(
    address: &PostgresAddress,
    to: &Path,
) -> Result<DatabaseCounts, StoreError> {
    let mut connection = address.connect().await?;
    schema::require_current(&mut connection).await?;
    let mut transaction = connection.begin().await?;
    let isolation = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
    transaction.execute(isolation).await?;
    transaction.execute(NO_TIMEOUTS).await?;
    let mut file = copy::create_file(to)?;
    for table in &TABLES {
        export_table(&mut transaction, &mut file, table).await?;
    }
    transaction.rollback().await?;
    connection.close().await?;
    copy::finish(file)
}

async fn export_table(
    database: &mut PgConnection,
    file: &mut Connection,
    table: &Table,
) -> Result<(), StoreError> {
    let Table { name, chunk, .. } = table;
    let from = if *name == "cards" {
        "rhae.cards JOIN rhae.uses ON uses.card = cards.key".to_owned()
    } else {
        format!("rhae.{name}")
    };
    let columns: Vec<String> = table.columns.iter().map(selected).collect();
    let columns = columns.join(", ");
    // The name of the cursor differs, because the client caches statements by their text.
    let cursor = format!("DECLARE backup_{name} NO SCROLL CURSOR FOR SELECT {columns} FROM {from}");
    database.execute(AssertSqlSafe(cursor)).await?;
    let next = format!("FETCH {chunk} FROM backup_{name}");
    let marks: Vec<String> = (1..=table.columns.len())
        .map(|at| format!("?{at}"))
        .collect();
    let insert = format!(
        "INSERT INTO {name} ({}) VALUES ({})",
        table.column_list(),
        marks.join(", ")
    );
    loop {
        let fetched = sqlx::query(AssertSqlSafe(next.clone()));
        let fetched = fetched.fetch_all(&mut *database).await?;
        if fetched.is_empty() {
            return Ok(());
        }
        let transaction = file.transaction()?;
        let mut statement = transaction.prepare_cached(&insert)?;
        for row in &fetched {
            statement.execute(params_from_iter(values(row, table)?))?;
        }
        drop(statement);
        transaction.commit()?;
    }
}

/// Returns the expression that selects a column.
fn selected((name, kind): &(&str, Kind)) -> String {
    match kind {
        // The widths of integers differ.
        Kind::Integer => format!("{name}::bigint"),
        Kind::Boolean | Kind::Text | Kind::Escaped | Kind::Bytes => (*name).to_owned(),
    }
}

/// Converts a row of PostgreSQL.
fn values(row: &PgRow, table: &Table) -> Result<Vec<Value>, StoreError> {
    let columns = table.columns.iter().enumerate();
    let value = |(at, (name, kind)): (usize, &(&str, Kind))| {
        Ok(match kind {
            Kind::Integer => row.try_get::<Option<i64>, _>(at)?.into(),
            Kind::Boolean => row.try_get::<Option<bool>, _>(at)?.map(i64::from).into(),
            Kind::Text => row.try_get::<Option<String>, _>(at)?.into(),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.into(),
            Kind::Escaped => {
                let text: Option<&str> = row.try_get(at)?;
                let text = text.map(serde_json::from_str::<String>).transpose();
                text.map_err(|_| rows::corrupt(name))?.into()
            }
        })
    };
    columns.map(value).collect()
}

/// Reads all tables from an SQLite file into a database without content.
pub(crate) async fn import(
    from: &Path,
    address: &PostgresAddress,
) -> Result<DatabaseCounts, StoreError> {
    let file = copy::open_file(from)?;
    let mut connection = address.connect().await?;
    schema::prepare(&mut connection).await?;
    let mut transaction = connection.begin().await?;
    transaction.execute(NO_TIMEOUTS).await?;
    for table in &TABLES {
        let lock = format!("LOCK TABLE rhae.{} IN ACCESS EXCLUSIVE MODE", table.name);
        transaction.execute(AssertSqlSafe(lock)).await?;
        let used = format!("SELECT EXISTS (SELECT 1 FROM rhae.{})", table.name);
        let used = sqlx::query_scalar(AssertSqlSafe(used));
        if used.fetch_one(&mut *transaction).await? {
            return Err(StoreError::NotEmpty(address.to_string()));
        }
    }
    for table in &TABLES {
        import_table(&mut transaction, &file, table).await?;
    }
    transaction.execute(DERIVED).await?;
    session::commit(transaction).await?;
    connection.close().await?;
    copy::counts(&file)
}

/// Computes what only PostgreSQL stores: the lengths of logs, and the next keys.
const DERIVED: &str = "
    UPDATE rhae.plays SET head = logs.head
    FROM (SELECT play, max(entry) + 1 AS head FROM rhae.log GROUP BY play) AS logs
    WHERE plays.key = logs.play;
    SELECT setval(pg_get_serial_sequence('rhae.cards', 'key'), coalesce(max(key), 0) + 1, false) FROM rhae.cards;
    SELECT setval(pg_get_serial_sequence('rhae.plays', 'key'), coalesce(max(key), 0) + 1, false) FROM rhae.plays;
";

async fn import_table(
    database: &mut PgConnection,
    file: &Connection,
    table: &Table,
) -> Result<(), StoreError> {
    let statement = insert_statement(table);
    let select = format!("SELECT {} FROM {}", table.column_list(), table.name);
    let mut select = file.prepare(&select)?;
    let mut stored = select.query([])?;
    loop {
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); table.columns.len()];
        while columns[0].len() < table.chunk
            && let Some(row) = stored.next()?
        {
            for (at, column) in columns.iter_mut().enumerate() {
                column.push(row.get(at)?);
            }
        }
        if columns[0].is_empty() {
            return Ok(());
        }
        let mut query = sqlx::query(AssertSqlSafe(statement.clone()));
        for ((name, kind), column) in table.columns.iter().zip(columns) {
            query = bind(query, name, *kind, column)?;
        }
        query.execute(&mut *database).await?;
    }
}

/// Returns the statement that inserts rows from one array per column.
fn insert_statement(table: &Table) -> String {
    let parameters = table.columns.iter().enumerate().map(|(at, (_, kind))| {
        let array = match kind {
            Kind::Integer => "bigint[]",
            Kind::Boolean => "boolean[]",
            Kind::Text | Kind::Escaped => "text[]",
            Kind::Bytes => "bytea[]",
        };
        format!("${}::{array}", at + 1)
    });
    let rows = format!(
        "SELECT * FROM unnest({}) AS stored ({})",
        parameters.collect::<Vec<_>>().join(", "),
        table.column_list()
    );
    let insert = |columns: &str, values: &str| {
        let name = table.name;
        format!(
            "INSERT INTO rhae.{name} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM stored"
        )
    };
    let columns = table.column_list();
    match table.name {
        // The time of a card's last use is in a table of its own.
        "cards" => {
            let own = columns.replace("used_ms, ", "");
            let cards = insert(&own, &own);
            format!(
                "WITH stored AS ({rows}), cards AS ({cards} RETURNING key)
                 INSERT INTO rhae.uses (card, used_ms)
                 SELECT stored.key, used_ms FROM stored JOIN cards ON cards.key = stored.key"
            )
        }
        // The length of the log is computed at the end.
        "plays" => {
            let plays = insert(&format!("{columns}, head"), &format!("{columns}, 0"));
            format!("WITH stored AS ({rows}) {plays}")
        }
        _ => format!("WITH stored AS ({rows}) {}", insert(&columns, &columns)),
    }
}

type Insert<'q> = Query<'q, Postgres, PgArguments>;

/// Binds the values of a column as an array.
fn bind<'q>(
    query: Insert<'q>,
    name: &str,
    kind: Kind,
    column: Vec<Value>,
) -> Result<Insert<'q>, StoreError> {
    let wrong = || rows::corrupt(name);
    let integer = |value: Value| match value {
        Value::Null => Ok(None),
        Value::Integer(number) => Ok(Some(number)),
        Value::Real(_) | Value::Text(_) | Value::Blob(_) => Err(wrong()),
    };
    let text = |value: Value| match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        Value::Integer(_) | Value::Real(_) | Value::Blob(_) => Err(wrong()),
    };
    let bytes = |value: Value| match value {
        Value::Null => Ok(None),
        Value::Blob(bytes) => Ok(Some(bytes)),
        Value::Integer(_) | Value::Real(_) | Value::Text(_) => Err(wrong()),
    };
    let escaped = |text: String| serde_json::Value::from(text).to_string();
    let column = column.into_iter();
    Ok(match kind {
        Kind::Integer => query.bind(column.map(integer).collect::<Result<Vec<_>, _>>()?),
        Kind::Boolean => {
            let flag = |value| Ok::<_, StoreError>(integer(value)?.map(|number| number != 0));
            query.bind(column.map(flag).collect::<Result<Vec<_>, _>>()?)
        }
        Kind::Text => query.bind(column.map(text).collect::<Result<Vec<_>, _>>()?),
        Kind::Escaped => {
            let json = |value| Ok::<_, StoreError>(text(value)?.map(escaped));
            query.bind(column.map(json).collect::<Result<Vec<_>, _>>()?)
        }
        Kind::Bytes => query.bind(column.map(bytes).collect::<Result<Vec<_>, _>>()?),
    })
}
