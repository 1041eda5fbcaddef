"""The end user's pages: each view turns a request into a service call, and the answer into what a template shows."""
