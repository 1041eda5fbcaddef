"""Kinds of jobs, one file each; `GRASP_JOBS` names them."""
