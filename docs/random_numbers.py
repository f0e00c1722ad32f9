"""Sample the trials of fastcube with NumPy alone.

The page "Random numbers" of the manual (``docs/random.md``) explains each function.  ``key`` is the key of a point, ``t`` the
number of a trial, and ``n`` the dimension of the cube.
"""

import hashlib
from decimal import Decimal, localcontext
from math import comb

import numpy as np


def point_key(study, seed, point):
    text = "|".join(["philox4x32-10/1", study, str(seed), *(f"{name}={value}" for name, value in point.items())])
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)


def study_key(study, seed, point):
    named = {"what" if name == "failing" else name: value for name, value in point.items()}
    left_out = ("network", "failed", "domain", "domains")
    point, shared = {name: value for name, value in named.items() if name not in left_out}, study
    if study == "routing-rules-rate":
        point, shared = {**point, "k": 1}, "routing-rate"
    elif study in ("routing-rules", "safety-status") or study.startswith("routing-rules-"):
        point, shared = {**point, "k": 1}, "routing"
    elif study == "hitting" or study.startswith("survival-curve-"):
        shared = "survival-curve"
    elif study.startswith("survival-") and study not in ("survival-rate", "survival-curve"):
        point, shared = {"n": 0, "f": 0, "links": 0, **point}, "survival"
    return point_key(shared, seed, point)


def philox(c0, c1, c2, c3, k0, k1):
    c0, c1, c2, c3 = (np.asarray(c, np.uint64) for c in (c0, c1, c2, c3))
    for r in range(10):
        p, q = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        x, y = np.uint64((k0 + r * 0x9E3779B9) % 2**32), np.uint64((k1 + r * 0xBB67AE85) % 2**32)
        c0, c1, c2, c3 = (q >> 32) ^ c1 ^ x, q % 2**32, (p >> 32) ^ c3 ^ y, p % 2**32
    return c0, c1, c2, c3


def words(key, block, count, purpose):
    j = np.arange(count, dtype=np.uint64)
    a, b, c, d = philox(block % 2**32, block >> 32, j // 2, purpose, key % 2**32, key >> 32)
    return np.where(j % 2 == 0, a + (b << 32), c + (d << 32))


def fields(key, t, n, count, purpose, w=None):
    w = w or (8 if n <= 8 else 16 if n <= 16 else 32)
    block, field = divmod(t, 64 // w)
    return (words(key, block, count, purpose) >> np.uint64(w * field)) % 2**w


def labels(key, t, n, count, purpose=0, w=None):
    low = fields(key, t, n, count, purpose, w)
    high = fields(key, t, n, count, purpose + 1, w) << 32 if n > 32 else 0
    return ((low + high) % 2**n).tolist()


def distinct_labels(key, t, n, count, first=()):
    places = 64
    while len(found := list(dict.fromkeys([*first, *labels(key, t, n, places)]))) < count:
        places *= 2
    return found[:count]


def fault_set_and_ends(key, t, n, f, ends):
    if 2 * f <= 2**n:
        found = distinct_labels(key, t, n, f + ends)
        return found[:f], found[f:]
    nonfaulty = distinct_labels(key, t, n, 2**n - f)
    return sorted(set(range(2**n)) - set(nonfaulty)), nonfaulty[:ends]


def fault_set(key, t, n, f):
    return fault_set_and_ends(key, t, n, f, 0)[0]


def close_pair_sequence(key, t, n, f):
    masks = [1 << a | 1 << b for b in range(n) for a in range(b + 1)]
    pairs = [(i, j) for j in range(f) for i in range(j)]
    for w in words(key, t, 100, 15).tolist():  # all 100 are skipped with probability 2^-100 at most
        low, high = w % 2**32 * len(masks), (w >> 32) * len(pairs)
        if low % 2**32 >= 2**32 % len(masks) and high % 2**32 >= 2**32 % len(pairs):
            break
    mask, (i, j), [first] = masks[low >> 32], pairs[high >> 32], labels(key, t, n, 1)
    others = iter(distinct_labels(key, t, n, f, [first, first ^ mask])[2:])
    return [first if k == i else first ^ mask if k == j else next(others) for k in range(f)], i, j


def link_set(key, t, n, links):
    found, count, w = {}, 64, 16 if n <= 16 else 32
    while len(found) < links:
        nodes, products = labels(key, t, n, count, 3, w), fields(key, t, n, count, 5, w) * n
        places = zip(nodes, products.tolist(), strict=True)
        proposed = [(x & ~(1 << p // 2**w), p // 2**w) for x, p in places if p % 2**w >= 2**w % n]
        found, count = dict.fromkeys(proposed), 2 * count
    return list(found)[:links]  # pairs (lower end, dimension)


def is_matched(n, slots, step):
    return slots == n and all((x ^ step(x, d)) >> d & 1 for d in range(n) for x in range(2**n))


def link_names(n, slots, step):  # the number of a link is the place of its name
    if is_matched(n, slots, step):
        return [(x, d) for d in range(n) for x in range(2**n) if not x >> d & 1]
    return [(x, d) for d in range(slots) for x in range(2**n) if x < step(x, d)]


def network_link_set(key, t, n, links, slots, step):
    if is_matched(n, slots, step):
        return link_set(key, t, n, links)
    names, found, count = link_names(n, slots, step), {}, 64
    while len(found) < links:
        nodes, field = fields(key, t, n, count, 3, 16) % 2**n, fields(key, t, n, count, 5, 16)
        if 2 * len(names) == slots * 2**n:
            places = zip(nodes.tolist(), (field * slots).tolist(), strict=True)
            proposed = [(x, p // 2**16) for x, p in places if p % 2**16 >= 2**16 % slots]
            proposed = [(min(x, step(x, d)), d) for x, d in proposed]
        else:
            places, size = ((nodes * 2**16 + field) * len(names)).tolist(), 2 ** (n + 16)
            proposed = [names[p // size] for p in places if p % size >= size % len(names)]
        found, count = dict.fromkeys(proposed), 2 * count
    return list(found)[:links]  # names (v, d)


def status(status_key, number):
    z = (status_key + number * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def is_faulty(key, t, label, rate):
    return status(int(words(key, t, 1, 2)[0]), label) < int(rate * 2**64)


def is_link_faulty(key, t, x, d, rate):
    return status(int(words(key, t, 1, 16)[0]), (x & ~(1 << d)) * 64 + d) < int(rate * 2**64)


def uniform(key, t, i):
    return int(words(key, t, i + 1, 17)[i] >> 11) / 2**53


def random_below(key, t, i, m):
    purpose = 18
    while (x := int(words(key, t, i + 1, purpose)[i])) < 2**64 % m:
        purpose += 256
    return x % m


def rate_trial(key, t, n, rate):
    count = 64
    while count <= 2**20:
        keys, nodes = words(key, t, count, 2).tolist(), (words(key, t, 2 * count, 6) % 2**n).tolist()
        for status_key, u, v in zip(keys, nodes[::2], nodes[1::2], strict=True):
            if u != v and min(status(status_key, u), status(status_key, v)) >= int(rate * 2**64):
                return status_key, u, v
        count *= 2
    return None


def dualcube_pair(key, t, m, rate):
    size, count = 2 ** (2 * m + 1), 64
    while count <= 2**21:
        nodes = (words(key, t, count, 6) % size).tolist()
        for u, v in zip(nodes[::2], nodes[1::2], strict=True):
            if u != v and not is_faulty(key, t, u, rate) and not is_faulty(key, t, v, rate):
                return u, v
        if m <= 9 and sum(not is_faulty(key, t, u, rate) for u in range(size)) < 2:
            return None
        count *= 2
    return None


def source_and_fault(key, t, n, d):
    masks = [m for m in range(2**n) if m.bit_count() == d]
    source, *others = words(key, t, 1000, 6).tolist()  # all 999 are skipped with probability 2^-999 at most
    ranks = (w % 2 ** (comb(n, d) - 1).bit_length() for w in others)
    return source % 2**n, source % 2**n ^ masks[next(r for r in ranks if r < comb(n, d))] if d else None


def number_of_faults(u, size, p):
    k = 0
    with localcontext(prec=60):
        weight = below = (1 - Decimal(p)) ** size
        while u >= 2**64 * below and k < size:
            k += 1
            weight *= (size - k + 1) * Decimal(p) / (k * (1 - Decimal(p)))
            below += weight
    return k


def random_nodes(key, t, n, p):
    size = 2**n
    if p < 1 / 64:
        return sorted(fault_set(key, t, n, number_of_faults(int(words(key, t, 1, 7)[0]), size, p)))
    head = [words(key, t * max(size // 64, 1) + v // 64, 8, 8) >> np.uint64(v % 64) & np.uint64(1) for v in range(size)]
    tail, limit = words(key, t, size, 9), int(Decimal(p) * 2**72)
    return [v for v in range(size) if (int("".join(map(str, head[v])), 2) << 64) + int(tail[v]) < limit]


def candidates(key, t, n, purpose=10):
    w = 8 if n <= 8 else 16 if n <= 16 else 32
    for count in (64 * 2**i for i in range(40)):
        found = words(key, t, count, purpose)
        for word in found[count // 2 if count > 64 else 0 :].tolist():
            for field in range(64 // w):
                yield (word >> w * field) % 2**n


def take_node(stream, nodes):
    return next(x for x in stream if x in nodes)


def take_nodes(stream, nodes, count):
    taken = []
    while len(taken) < min(count, len(nodes) - count):
        taken.append(take_node(stream, nodes - set(taken)))
    return sorted(taken if 2 * count <= len(nodes) else nodes - set(taken))


def multicast_case(key, t, n, f, destinations):
    faults, stream = fault_set(key, t, n, f), candidates(key, t, n)
    nonfaulty = set(range(2**n)) - set(faults)
    s = take_node(stream, nonfaulty)
    return faults, s, take_nodes(stream, nonfaulty - {s}, destinations)


def wormhole_case(key, t, n, f, senders, destinations):
    faults, stream = fault_set(key, t, n, f), candidates(key, t, n)
    nonfaulty, sources = set(range(2**n)) - set(faults), []
    while len(sources) < senders:
        sources.append(take_node(stream, nonfaulty - set(sources)))
    return faults, [(s, take_nodes(stream, nonfaulty - {s}, destinations)) for s in sources]


def faulty_at_rate(key, t, many, p, digits, tails):
    digit = words(key, t // 64, 16 * ((many + 1) // 2), digits) >> np.uint64(t % 64) & np.uint64(1)
    tail, limit = words(key, t, many, tails), int(Decimal(p) * 2**72)
    heads = [sum(int(digit[16 * (v // 2) + 2 * i + v % 2]) << (7 - i) for i in range(8)) for v in range(many)]
    return [v for v in range(many) if (heads[v] << 64) + int(tail[v]) < limit]


def faulty_links_at_rate(key, t, n, p):
    many = n * 2 ** (n - 1)
    if p < 1 / 64:
        return link_set(key, t, n, number_of_faults(int(words(key, t, 1, 13)[0]), many, p))
    pairs = (divmod(number, 2 ** (n - 1)) for number in faulty_at_rate(key, t, many, p, 11, 12))
    return [((x & 2**d - 1) | (x >> d) << (d + 1), d) for d, x in pairs]


def network_case(key, t, n, p, link_p):
    faults = random_nodes(key, t, n, p) if p < 1 / 64 else faulty_at_rate(key, t, 2**n, p, 19, 9)
    links, nonfaulty, stream = (
        faulty_links_at_rate(key, t, n, link_p),
        set(range(2**n)) - set(faults),
        candidates(key, t, n, 6),
    )
    if len(nonfaulty) < 2:
        return faults, links, None, None
    s = take_node(stream, nonfaulty)
    return faults, links, s, take_node(stream, nonfaulty - {s})


def failure_order(key, t, many, purpose):  # 20: nodes, 21: links
    order, word = list(range(many)), words(key, t, many, purpose).tolist()
    for i in range(many - 1, -1, -1):
        j = word[many - 1 - i] * (i + 1) >> 64
        order[i], order[j] = order[j], order[i]
    return order  # the first fails first


def failed_domains(key, t, many, count):
    found, places, few = {}, 64, min(count, many - count)
    while len(found) < few:
        halves = [half for word in words(key, t, places, 22).tolist() for half in divmod(word, 2**32)[::-1]]
        kept = (half * many for half in halves if half * many % 2**32 >= 2**32 % many)
        found, places = dict.fromkeys(x >> 32 for x in kept), 2 * places
    first = list(found)[:few]
    return sorted(first if few == count else set(range(many)) - set(first))


def pair_beside_domains(key, t, n, f, failed_nodes):
    faults, first = fault_set(key, t, n, f), distinct_labels(key, t, n, 2**n)
    alive = [x for x in first if x not in faults and x not in failed_nodes]
    if 2 * f > 2**n or len(alive) < 2:
        return alive[:2]
    places = 64
    while True:
        sequence = labels(key, t, n, places)
        after = next((k for k in range(places + 1) if len(set(sequence[:k])) == f), places)
        later = list(dict.fromkeys(x for x in sequence[after:] if x in alive))
        if len(later) >= 2:
            return later[:2]
        places *= 2
