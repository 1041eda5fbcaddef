"""What happens in the site, told to whoever counts, logs or traces it; and the ids that follow a request around."""
