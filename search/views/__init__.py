"""The end user's pages: each view turns a request into a service call, and its result into the values of a template."""
