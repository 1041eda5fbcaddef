"""sent: the header of a queued search that says when it was sent, in seconds since 1970 by the sender's clock."""

SENT = "grasp_sent"
