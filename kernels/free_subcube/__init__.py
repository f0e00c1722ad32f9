"""Fault-free subcubes of faulty hypercubes, any of them or only blocks of consecutive labels."""
