"""Jobs: launching, claiming, running, following and stopping long work."""
