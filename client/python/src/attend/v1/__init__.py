"""The messages and stubs of attend.v1: made from proto/ with the package."""
