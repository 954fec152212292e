"""PDF and PNG files, set by Typst with the fonts of this package; fonts/README.md lists them."""
