"""The functions of the extension module, as the package calls them."""

__version__: str
