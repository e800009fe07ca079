// @ts-check
/**
 * Forms that a script sends as JSON. A form with `data-confirm` first asks with the dialog of that id. While a form is being sent, its
 * buttons are disabled.
 */

/**
 * Returns the fields of a form: texts, numbers (`type=number`), times in
 * milliseconds (`type=datetime-local`), JSON (`data-json`), and whether a box is ticked. Ticked boxes with
 * `data-list` become a list. A name such as `a.b` is a field of an object. Empty optional fields are left out.
 *
 * @param {HTMLFormElement} form
 */
export function fieldsOf(form) {
  /** @type {Record<string, any>} */
  const fields = {};
  for (const input of /** @type {Iterable<HTMLInputElement>} */ (/** @type {unknown} */ (form.elements))) {
    if (!input.name || (input.type === "radio" && !input.checked)) continue;
    if (input.value === "" && !input.required) continue;
    const path = input.name.split(".");
    const last = path.pop() ?? "";
    let within = fields;
    for (const name of path) within = within[name] ??= {};
    if (!("list" in input.dataset)) within[last] = valueOf(input);
    else if (input.checked) (within[last] ??= []).push(input.value);
  }
  return fields;
}

/** @param {HTMLInputElement} input */
function valueOf(input) {
  if (input.type === "checkbox") return input.checked;
  if (input.type === "number") return Number(input.value);
  if (input.type === "datetime-local") return new Date(input.value).getTime();
  return "json" in input.dataset ? JSON.parse(input.value) : input.value;
}

/**
 * Sends the forms of the page with a function.
 * @param {(form: HTMLFormElement, fields: Record<string, any>) => Promise<void>} submit
 */
export function enableForms(submit) {
  document.addEventListener("submit", async (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.method === "dialog") return;
    event.preventDefault();
    const fields = checkedFields(form);
    if (!fields) return;
    if (form.dataset.confirm && !(await confirmed(form.dataset.confirm))) return;
    const buttons = form.querySelectorAll("button");
    buttons.forEach((button) => (button.disabled = true));
    await submit(form, fields);
    buttons.forEach((button) => (button.disabled = false));
  });
}

/** Returns the fields, or marks the one that is not valid JSON. @param {HTMLFormElement} form */
function checkedFields(form) {
  try {
    return fieldsOf(form);
  } catch (reason) {
    const field = /** @type {HTMLTextAreaElement} */ (form.querySelector("[data-json]"));
    field.setCustomValidity(`This is not valid JSON: ${reason instanceof Error ? reason.message : reason}`);
    field.reportValidity();
    field.addEventListener("input", () => field.setCustomValidity(""), { once: true });
    return null;
  }
}

/** Asks with a dialog whose buttons have the values `yes` and `no`. @param {string} id @returns {Promise<boolean>} */
function confirmed(id) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById(id));
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
}
