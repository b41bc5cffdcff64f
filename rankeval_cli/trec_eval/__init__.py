"""A drop-in trec_eval: its command line, its readings of files and its lines, over the same flow as the program."""
