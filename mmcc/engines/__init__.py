"""Where jobs run: in processes of this machine, or in those of many machines by Ray."""
