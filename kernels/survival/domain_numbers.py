"""The numbers of failure domains: of the board of each node, or of the switch of each link; boards may be a user's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machine.jit import Kernel, block, kernel, scratch
from ..machine.trials import name_variant


@block
def board_of(kind, v, n):
    """Return the board of a node: boards of kind 0, 1, ... are aligned blocks of 2, 4, ... nodes."""
    return v >> (kind + 1)


def wrap_user_domain(domain: Any) -> Any:
    """Return a user's function of a node's domain, compiled or not, as a block with an unused parameter ``kind``."""
    compiled = domain if hasattr(domain, "py_func") else block(domain)

    @block
    def call_user_domain(kind, v, n):
        return np.int64(compiled(np.int64(v), np.int64(n)))

    return call_user_domain


def user_domain_kernel(domain: Any) -> Kernel:
    """Return the kernel that lists the domains of all nodes: a user's function as all counting kernels compile it."""
    name, cache = name_variant(domain)
    domain_of = wrap_user_domain(domain)

    @kernel("int64[::1](int64)", variant=name, cache=cache, code=getattr(domain, "py_func", domain))
    def list_domains(n):
        """Return the domain of each node, unchecked."""
        domains = np.empty(1 << n, np.int64)
        for v in range(1 << n):
            domains[v] = domain_of(np.int64(0), v, n)
        return domains

    return list_domains


@scratch
def number_boards(kind, n, domain_of):
    """Return the number of each node's domain, a column, and the number of domains, in the order of their values."""
    nodes = np.int64(1) << n
    numbers = np.empty((nodes, 1), np.int32)
    number_of = np.zeros(nodes, np.int32)  # of each value: at first 1 if a domain has it
    for v in range(nodes):
        numbers[v, 0] = domain_of(kind, np.int64(v), n)
        number_of[numbers[v, 0]] = 1
    domain_count = np.int64(0)
    for value in range(nodes):
        domain_count += number_of[value]
        number_of[value] = domain_count - 1
    for v in range(nodes):
        numbers[v, 0] = number_of[numbers[v, 0]]
    return numbers, domain_count


@scratch
def number_switches(n, table):
    """Return the number of the switch of each node and slot in a HyperX network, and the number of switches.

    A row of the network, all nodes that differ in digit i only, has one switch.  Switches are numbered in the order of (i, v) by
    the node v of the row whose digit i is 0.
    """
    nodes, slots = table.shape
    bits = np.int64(1)  # of a digit; n / bits digits have 2^bits - 1 slots each
    while slots * bits > n * ((1 << bits) - 1):
        bits += 1
    slots_per_digit = (np.int64(1) << bits) - 1
    numbers = np.empty((nodes, slots), np.int32)
    for v in range(nodes):
        for d in range(slots):
            i = d // slots_per_digit
            shift = bits * i
            row = (v & ((1 << shift) - 1)) | (v >> (shift + bits)) << shift  # v without digit i
            numbers[v, d] = (i << (n - bits)) + row
    return numbers, n // bits << (n - bits)


@scratch
def find_board_size(numbers, domain_count):
    """Return the number of nodes of each domain, 0 if they differ."""
    sizes = np.zeros(domain_count, np.int64)
    for v in range(numbers.shape[0]):
        sizes[numbers[v, 0]] += 1
    return sizes[0] if sizes.min() == sizes.max() else np.int64(0)
