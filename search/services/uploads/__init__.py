"""Uploads: files that staff send to the site in pieces, to import them."""
