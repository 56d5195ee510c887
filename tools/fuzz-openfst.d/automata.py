"""Random automata, OpenFst's files read here, and whether two automata have the same weighted language."""
import math
import random
import struct

INF = math.inf
SYMS = {"in.syms": "abcdefgh", "out.syms": "ABCDEFGH"}


class Rng:
    """Only random(): the one method whose sequence Python promises for a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, n):
        return int(self.random() * n)

    def chance(self, p):
        return self.random() < p

    def pick(self, *things):
        return things[self.below(len(things))]

    def flag(self, name, p=0.5):
        """A switch in one of the spellings that OpenFst understands, or nothing."""
        return [self.pick("--%s", "--%s=true", "-%s", "--%s=1" if self.chance(0.1) else "--%s") % name] if self.chance(p) else self.pick([], ["--%s=false" % name])

    def some(self, p, *options):
        return [self.pick(*options)] if self.chance(p) else []


def weight(r, kind, final=False):
    if r.chance(0.02):
        return "Infinity"
    if kind == "none":
        return ""
    if kind == "grid":
        return r.pick("", "0.25", "0.5", "1", "1.5", "2", "3.25")
    if kind == "neg":
        return "%.4g" % (r.below(4000) / 1000 - 1.5)
    if kind == "finals":  # arcs have none
        return r.pick("", "0.5", "1") if final else ""
    low = 1.5 if kind == "high" else 0.001
    return "%.4g" % (r.below(5000) / 1000 + low)


def automaton(r, arc, acyclic=None, transducer=None, eps=None, kind=None, sort=None):
    """Rows of AT&T text. What is not asked for is chance; dead ends and states that nothing reaches come by chance, too."""
    special = r.below(60)
    if special < 5:
        return ["", "0\n", "0\t1.5\n", "0\tInfinity\n", "0\t1\t1\t1\t0.5\n1\t0\t2\t2\t0.25\n"][special]
    acyclic = r.chance(0.65) if acyclic is None else acyclic
    transducer = r.chance(0.5) if transducer is None else transducer
    eps = r.pick(0, 0, 0.2, 0.5) if eps is None else eps
    if kind is None:
        # Negative cycles have no shortest distance, and log sums of cheap cycles none either: a few of them are enough.
        risky = acyclic or r.chance(0.04)
        kind = r.pick("none", "finals", "grid", "grid", "rough", "neg") if risky else r.pick("none", "finals", "grid", "rough") if arc == "standard" else "high"
    n = 1 + r.below(r.pick(3, 6, 9))
    labels = r.pick(1, 2, 4, 6)
    rows = []
    for k in range(r.below(int(n * r.pick(1.5, 2.5, 3.5)) + 1) + n - 1):
        s = k if k < n - 1 else r.below(n)
        d = s + 1 if k < n - 1 and r.chance(0.8) else r.below(n)
        if acyclic and d <= s:
            if s == n - 1:
                continue
            d = s + 1 + r.below(n - 1 - s)
        i = 0 if r.chance(eps) else 1 + r.below(labels)
        o = i if not transducer else 0 if r.chance(eps) else 1 + r.below(labels)
        rows.append((s, d, i, o, weight(r, kind)))
        if r.chance(0.08):
            rows.append(rows[-1])
    if sort is not None:
        rows.sort(key=lambda a: (a[0], a[sort]))
    finals = ["%d\t%s\n" % (s, weight(r, kind, True)) for s in range(n) if s == n - 1 and r.chance(0.95) or r.chance(0.25)]
    return "".join("\t".join(map(str, a)).rstrip() + "\n" for a in sorted(rows, key=lambda a: a[0])) + "".join(finals)


class Fst:
    """An automaton file of OpenFst's, vector or const: start, states [(final weight, [(ilabel, olabel, weight, next)])], names."""

    def __init__(self, path):
        self.data, self.at = open(path, "rb").read(), 0
        magic, kind, self.arc, version, flags = self.take("i"), self.string(), self.string(), self.take("i"), self.take("i")
        if magic != 2125659606 or kind not in ("vector", "const"):
            raise ValueError("no automaton")
        self.take("Q")
        self.start, count, arcs = self.take("q"), self.take("q"), self.take("q")
        self.names = [self.table() if flags & bit else None for bit in (1, 2)]
        w = "d" if self.arc == "log64" else "f"
        self.states = []
        if kind == "vector":
            for _ in range(count):
                final = self.take(w)
                self.states.append((final, [self.take("=ii%si" % w) for _ in range(self.take("q"))]))
        else:
            align = lambda: setattr(self, "at", (self.at + 15) // 16 * 16) if flags & 4 else None
            align()
            heads = [self.take("%sIIII" % w) for _ in range(count)]  # padded as in C
            align()
            all_arcs = [self.take("ii%si" % w + ("4x" if w == "d" else "")) for _ in range(arcs)]
            self.states = [(h[0], all_arcs[h[1]:h[1] + h[2]]) for h in heads]
        del self.data

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values if len(values) > 1 else values[0]

    def string(self):
        n = self.take("i")
        self.at += n
        return self.data[self.at - n:self.at].decode("utf8", "replace")

    def table(self):
        self.take("i"), self.string(), self.take("q")
        return [(self.string(), self.take("q")) for _ in range(self.take("q"))]

    def key(self):
        return (self.arc, self.start, self.states, [t and sorted(t, key=lambda x: x[1]) for t in self.names])

    def weights(self):
        for final, arcs in self.states:
            yield final
            for a in arcs:
                yield a[2]

    def shape(self):
        return (self.start, [[(a[0], a[1], a[3]) for a in arcs] for _, arcs in self.states])

    def renumbered(self):
        """The same with states in the order in which a walk meets them; arcs sorted, as far as that is possible."""
        order, stack = {}, [self.start] if self.start >= 0 else []
        while stack:
            s = stack.pop()
            if s not in order:
                order[s] = len(order)
                stack += [a[3] for a in sorted(self.states[s][1], reverse=True, key=lambda a: a[:3])]
        return [(self.states[s][0], sorted((a[0], a[1], a[2], order[a[3]]) for a in self.states[s][1])) for s in order]

    def twins(self):
        """Some state has two arcs with the same labels and weight."""
        return any(len({a[:3] for a in arcs}) < len(arcs) for _, arcs in self.states)

    def infinite(self):
        return any(a[2] == INF for _, arcs in self.states for a in arcs)


def near(x, y, tolerance):
    return x == y or abs(x - y) < INF and abs(x - y) <= tolerance * max(1, abs(x), abs(y))


def plus(arc, x, y):
    if arc == "standard" or INF in (x, y):
        return min(x, y)
    return min(x, y) - math.log1p(math.exp(-abs(x - y)))


def language(f, limit=20000):
    """Weights of all strings and the list of all path weights; None if there are too many paths (cycles among them)."""
    words, paths, stack = {}, [], [(f.start, (), (), 0.0)] if f.start >= 0 else []
    while stack:
        s, x, y, w = stack.pop()
        limit -= 1
        if limit < 0 or len(x) + len(y) > 200:
            return None
        final, arcs = f.states[s]
        if final < INF:
            words[x, y] = plus(f.arc, words.get((x, y), INF), w + final)
            paths.append((w + final, x, y))
        stack += [(a[3], x + (a[0],) * (a[0] != 0), y + (a[1],) * (a[1] != 0), w + a[2]) for a in arcs if a[2] < INF]
    return words, paths


def value(f, x, y):
    """The weight of one string pair: sums over the states of automaton times positions until nothing changes."""
    dist, new = {}, {(f.start, 0, 0): 0.0} if f.start >= 0 else {}
    for _ in range(400):  # `new` is what the last round's paths add
        for k, w in new.items():
            dist[k] = plus(f.arc, dist.get(k, INF), w)
        old, new = new, {}
        for (s, i, j), w in old.items():
            for a in f.states[s][1]:
                if (a[0] == 0 or x[i:i + 1] == (a[0],)) and (a[1] == 0 or y[j:j + 1] == (a[1],)) and a[2] < INF:
                    k = (a[3], i + (a[0] != 0), j + (a[1] != 0))
                    if f.arc != "standard" or w + a[2] < dist.get(k, INF):
                        new[k] = plus(f.arc, new.get(k, INF), w + a[2])
        if not new or min(new.values()) > 60:
            break
    ends = [w + f.states[s][0] for (s, i, j), w in dist.items() if (i, j) == (len(x), len(y))]
    total = INF
    for w in ends:
        total = plus(f.arc, total, w)
    return total


def same_language(f, g, r, tolerance=2e-3):
    one, two = language(f), language(g)
    if one and two:
        keys = set(one[0]) | set(two[0])
        return all(near(one[0].get(k, INF), two[0].get(k, INF), tolerance) for k in keys)
    words = set()
    for m in (f, g):
        for _ in range(25):
            s, x, y = m.start, (), ()
            for _ in range(12):
                final, arcs = m.states[s] if s >= 0 else (INF, [])
                if final < INF:
                    words.add((x, y))
                if not arcs:
                    break
                a = arcs[r.below(len(arcs))]
                s, x, y = a[3], x + (a[0],) * (a[0] != 0), y + (a[1],) * (a[1] != 0)
    return all(near(value(f, *k), value(g, *k), tolerance) for k in words)
