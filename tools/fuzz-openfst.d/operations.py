"""The commands of a case: every operation with random options and operands, and pipelines of several."""
from automata import SYMS, automaton


class Step:
    """One command: the words after `fst` or `far`, and the files that it writes and that are compared."""

    def __init__(self, op, words, outs=("out.fst",), family="fst"):
        self.op, self.words, self.outs, self.family = op, [op] + list(words), list(outs), family

    def line(self, who):
        quoted = ["'%s'" % w if set(w) & set(" \t;") or not w else w for w in self.words]
        return (" ".join(["$WEFT", self.family] + quoted) if who == "weft" else self.family + " ".join(quoted))


# Every operation makes a list of steps. `at` is the automaton of a pipeline so far; without it a new one is made.

DELTAS = ["--delta=1e-6", "--delta=0.0009765625", "--delta=0.1"]
QUEUES = ["--queue_type=" + q for q in ("auto", "fifo", "lifo", "shortest", "state", "top")]
FILTERS = ["alt_sequence", "auto", "auto", "match", "null", "sequence", "trivial"]
LIMITS = ["--nstate=1", "--nstate=3", "--nstate=6", "--weight=0.5", "--weight=2", "--weight=4"]


def one(op, options, **how):
    return lambda c, at=None: [Step(op, options(c.r) + [at or c.make("a", **how), "out.fst"])]


def two(op, options, sort=None, second=None, first=None):
    def steps(c, at=None):
        order = (None, None) if sort is None or c.r.chance(0.05) else c.r.pick((3, 2), (None, 2), (3, None))
        names = c.r.pick(0, 0, 0, 3)
        a = at or c.make("a", names=names, sort=order[0], **(first or {}))
        words = second(c) if second else {}
        b = c.make("b", names=names if c.r.chance(0.8) else 0, sort=2 if at and sort else order[1], **words)
        return [Step(op, options(c.r) + [a, b, "out.fst"])]
    return steps


def filters(r, more=()):
    return r.some(0.5, *["--compose_filter=" + f for f in FILTERS + list(more)]) + r.flag("connect", 0.7)


def compile_(c, at=None):
    r, text = c.r, automaton(c.r, c.arc)
    rows = [line.split("\t") for line in text.splitlines()]
    options = ["--arc_type=" + c.arc] + r.flag("keep_state_numbering", 0.2) + r.some(0.2, "--fst_type=const")
    if r.chance(0.4):  # acceptors have one label
        options.append("--acceptor")
        rows = [row[:3] + row[4:] if len(row) > 2 else row for row in rows]
    for side, table in ((2, "in.syms"), (3, "out.syms")):
        if r.chance(0.4) and ("--acceptor" not in options or side == 2):
            options += ["--%ssymbols=%s" % ("i" if side == 2 else "o", table)] + r.flag("keep_%ssymbols" % ("i" if side == 2 else "o"))
            letters = ["<eps>"] + list(SYMS[table]) + ["-"] * 99
            rows = [row[:side] + [letters[int(row[side])]] + row[side + 1:] if len(row) > 2 else row for row in rows]
    if r.chance(0.1):
        r.pick(*rows).insert(r.below(3), r.pick("x", "-1", "", "1e3", "7")) if rows else None
    if r.chance(0.2):
        rows = [rows[r.below(len(rows))] for _ in rows]
    spaces = r.pick("\t", " ", " \t ")
    c.file("a.txt", "".join(spaces.join(row) + r.pick("\n", "\n", " \n") for row in rows))
    return [Step("compile", options + ["a.txt", "out.fst"])]


def print_(c, at=None):
    r, names = c.r, c.r.below(4)
    a = at or c.make("a", names=names)
    options = r.flag("acceptor", 0.2) + r.flag("numeric", 0.2) + r.flag("show_weight_one", 0.3) + r.some(0.2, "--isymbols=in.syms") + r.some(0.2, "--osymbols=in.syms")
    options += r.some(0.1, "--fst_field_separator=;,") + r.some(0.1, "--missing_symbol=?") + r.some(0.1, "--save_isymbols=s.txt") * ("--numeric" not in " ".join(options))
    return [Step("print", options + [a], ["s.txt"] if "--save_isymbols=s.txt" in options else [])]


def draw(c, at=None):
    r = c.r
    options = r.flag("acceptor", 0.3) + r.flag("portrait", 0.3) + r.flag("vertical", 0.3) + r.flag("numeric", 0.2) + r.flag("show_weight_one", 0.3)
    options += r.some(0.2, "--precision=3", "--precision=8") + r.some(0.2, "--float_format=e", "--float_format=f") + r.some(0.2, "--title=t", "--fontsize=10", "--width=5", "--height=3.5", "--nodesep=1", "--ranksep=0.25")
    return [Step("draw", options + [at or c.make("a")], [])]


def encode(c, at=None):
    a, options = at or c.make("a"), c.r.flag("encode_labels", 0.7) + c.r.flag("encode_weights", 0.5)
    steps = [Step("encode", options + [a, "mapper", "enc.fst"], ["enc.fst"])]
    if c.r.chance(0.3):
        steps.append(Step("encode", options + ["--encode_reuse", c.make("b"), "mapper", "enc2.fst"], ["enc2.fst"]))
    return steps + [Step("encode", ["--decode", "enc.fst", "mapper", "out.fst"])]


def test(op):
    def steps(c, at=None):
        r, how = c.r, dict(acyclic=c.r.chance(0.7), eps=0, transducer=False) if op == "equivalent" and c.r.chance(0.7) else {}
        a = at or c.make("a", **how)
        options = r.some(0.3, *DELTAS)
        if r.chance(0.5):
            b = c.make("b", **how)
        else:  # something close to it
            b, near_op = "b.fst", c.r.pick(["fstreverse"], ["fstarcsort"], ["fstpush", "--push_weights"], ["fsttopsort"], ["fstmap"])
            c.prepare(near_op + [a, b])
        if op == "equivalent" and r.chance(0.5):
            options += ["--random", "--seed=5", "--npath=20", "--max_length=6"]
            return [Step(op, options + [a, b], [])]
        steps = []
        if op == "equivalent":  # it wants deterministic automata
            steps = [Step("determinize", [x, "d" + x], ["d" + x]) for x in (a, b)] if r.chance(0.9) and how else []
        return steps + [Step(op, options + (["d" + a, "d" + b] if steps else [a, b]), [])]
    return steps


def info(c, at=None):
    options = c.r.some(0.5, *["--arc_filter=" + f for f in ("any", "epsilon", "iepsilon", "oepsilon")]) + c.r.some(0.5, "--info_type=long", "--info_type=short", "--info_type=auto")
    return [Step("info", options + [at or c.make("a")], [])]


def map_(c, at=None):
    r = c.r
    kind = r.pick("arc_sum", "arc_unique", "identity", "input_epsilon", "invert", "output_epsilon", "plus", "power", "quantize", "rmweight", "superfinal", "times", "to_log", "to_log64", "to_std", "to_standard")
    options = ["--weight=" + r.pick("0.5", "2", "-1", "Infinity")] if kind in ("plus", "times") else ["--power=" + r.pick("2", "0.5", "0", "-1")] if kind == "power" else []
    return [Step("map", ["--map_type=" + kind] + options + r.some(0.3, *DELTAS) + [at or c.make("a"), "out.fst"])]


def minimize(c, at=None):
    r = c.r
    nondet = r.chance(0.3)
    a = at or c.make("a", acyclic=nondet or r.chance(0.8), transducer=r.chance(0.3))
    before, options = [], r.some(0.3, *DELTAS)
    if nondet:
        options.append("--allow_nondet")
    elif not at:
        before = [Step("rmepsilon", [a, "r.fst"], ["r.fst"]), Step("determinize", ["r.fst", "d.fst"], ["d.fst"])]
        a = "d.fst"
    outs = ["out.fst", "out2.fst"] if r.chance(0.15) and not at else ["out.fst"]
    return before + [Step("minimize", options + [a] + outs, outs)]


def push(r):
    return r.flag("push_weights", 0.8) + r.flag("push_labels", 0.2) + r.flag("to_final") + r.flag("remove_total_weight", 0.4) + r.flag("remove_common_affix", 0.2) + r.some(0.3, *DELTAS)


def relabel(c, at=None):
    r = c.r
    c.file("pairs.txt", "".join("%d%s%d\n" % (r.below(7), r.pick(" ", "\t"), r.below(9)) for _ in range(r.below(5))))
    c.file("new.syms", "<eps> 0\n" + "".join("%s %d\n" % (x, i + 1) for i, x in enumerate(sorted("abcdefgh", key=lambda _: r.random()))))
    options = r.some(0.6, "--relabel_ipairs=pairs.txt") + r.some(0.4, "--relabel_opairs=pairs.txt")
    if r.chance(0.4):
        options = ["--isymbols=in.syms", "--relabel_isymbols=new.syms"]
    return [Step("relabel", options + [at or c.make("a"), "out.fst"])]


def replace(c, at=None):
    r, files = c.r, []
    options = r.flag("epsilon_on_replace", 0.2) + r.some(0.4, *["--call_arc_labeling=" + x for x in ("input", "output", "both", "neither")])
    options += r.some(0.4, *["--return_arc_labeling=" + x for x in ("input", "output", "both", "neither")]) + r.some(0.3, "--return_label=9")
    root = at or c.make("a", acyclic=True, names=0)
    for k, name in enumerate("bd"[:1 + r.below(2)]):
        files += [c.make(name, acyclic=True, names=0), str(5 + k)]
    return [Step("replace", options + [root, "100"] + files + ["out.fst"])]


def reweight(c, at=None):
    c.file("pot.txt", "".join("%d %.3g\n" % (s, c.r.below(4000) / 1000 - 1) for s in range(c.r.below(9))))
    return [Step("reweight", c.r.flag("to_final") + [at or c.make("a"), "pot.txt", "out.fst"])]


def shortestpath(r):
    return r.some(0.6, *["--nshortest=%d" % n for n in (1, 2, 5, 40)]) + r.flag("unique", 0.25) + r.some(0.2, *LIMITS) + r.some(0.15, *QUEUES) + r.some(0.2, *DELTAS)


def randgen(r):
    options = ["--seed=%d" % r.below(1000), "--npath=%d" % r.pick(1, 3, 20), "--max_length=%d" % r.pick(1, 5, 30)]
    return options + r.some(0.6, *["--select=" + s for s in ("uniform", "log_prob", "fast_log_prob")]) + r.flag("weighted", 0.3) + r.flag("remove_total_weight", 0.2)


def symbols(c, at=None):
    r = c.r
    c.file("pairs.txt", "".join("%d %d\n" % (r.below(7), r.below(9)) for _ in range(r.below(5))))
    options = r.flag("clear_isymbols", 0.2) + r.flag("clear_osymbols", 0.2) + r.some(0.3, "--isymbols=out.syms") + r.some(0.3, "--osymbols=in.syms")
    options += r.some(0.1, "--relabel_ipairs=pairs.txt") + r.some(0.1, "--relabel_opairs=pairs.txt") + r.flag("verify", 0.2)
    save = r.chance(0.2)
    names = 3 if save else r.below(4)
    return [Step("symbols", options + ["--save_isymbols=s.txt"] * save + [at or c.make("a", names=names), "out.fst"], ["out.fst"] + ["s.txt"] * save)]


def far(c, at=None):
    """Archives: made, described, taken apart, printed; strings compiled and printed."""
    r = c.r
    kind = r.some(0.7, *["--far_type=" + t for t in ("default", "sttable", "stlist")])
    if r.chance(0.5):
        lines = [" ".join(r.pick(*"abcdefgh") for _ in range(r.below(5))) for _ in range(1 + r.below(6))]
        c.file("lines.txt", "".join(x + "\n" for x in lines))
        token = r.pick("symbol", "symbol", "byte", "utf8")
        table = ["--symbols=in.syms"] if token == "symbol" else []
        options = kind + ["--arc_type=" + c.arc, "--token_type=" + token] + table + r.flag("keep_symbols", 0.4) + r.flag("initial_symbols", 0.5) + r.some(0.3, "--entry_type=line", "--entry_type=file")
        options += r.some(0.4, "--generate_keys=3") + r.some(0.2, "--key_prefix=k", "--key_suffix=.x") + r.some(0.2, "--unknown_symbol=a")
        steps = [Step("compilestrings", options + ["lines.txt", "out.far"], [], "far")]
        steps += [Step("printstrings", ["--token_type=" + token] + table + r.flag("print_key", 0.4) + r.flag("print_weight", 0.3) + ["out.far"], [], "far")]
    else:
        files = [c.make(x) for x in "abd"[:1 + r.below(3)]]
        steps = [Step("create", kind + r.some(0.4, "--generate_keys=2") + r.some(0.2, "--key_prefix=k", "--key_suffix=.x") + files + ["out.far"], [], "far")]
        steps += [Step(r.pick("equal", "isomorphic"), ["out.far", "out.far"], [], "far")]
        if len(steps[0].words) == len(files) + 2 and r.chance(0.5):
            steps += [Step("info", ["--list_fsts", "--%s_key=%s" % (r.pick("begin", "end"), r.pick(*files)), "out.far"], [], "far")]
    steps += [Step("info", r.flag("list_fsts", 0.4) + ["out.far"], [], "far")]
    return steps + [Step("extract", ["--generate_filenames=1", "--filename_prefix=x"] + ["out.far"], ["x%d" % k for k in range(1, 8)], "far")]


def pipeline(c, at=None):
    steps, at = [], c.make("a")
    for k in range(3 + c.r.below(4)):
        for s in PIPED[c.r.below(len(PIPED))][1](c, at):
            if s.words[0] == "compose" and c.r.chance(0.9):
                steps.append(Step("arcsort", ["--sort_type=olabel", at, "s%d.fst" % k], ["s%d.fst" % k]))
                s.words[-3] = "s%d.fst" % k
            s.words[-1] = at = "p%d.fst" % k
            s.outs = [at]
            steps.append(s)
    return steps


NOTHING = lambda r: []
OPS = {
    "arcsort": one("arcsort", lambda r: r.some(0.8, "--sort_type=ilabel", "--sort_type=olabel")),
    "closure": one("closure", lambda r: r.flag("closure_plus")),
    "compile": compile_,
    "compose": two("compose", lambda r: filters(r, ["no_match"]), sort=True),
    "concat": two("concat", NOTHING),
    "connect": one("connect", NOTHING),
    "convert": one("convert", lambda r: ["--fst_type=" + r.pick("const", "vector")] + r.flag("fst_align", 0.3)),
    "determinize": one("determinize", lambda r: r.some(0.4, *["--det_type=" + t for t in ("functional", "nonfunctional", "disambiguate")]) + r.some(0.3, *LIMITS) + r.some(0.3, *DELTAS) + r.some(0.2, "--subsequential_label=9") + r.flag("increment_subsequential_label", 0.2)),
    "difference": two("difference", filters, True, lambda c: dict(kind="none", eps=0, transducer=False), dict(transducer=False)),
    "disambiguate": one("disambiguate", lambda r: r.some(0.3, *LIMITS) + r.some(0.3, *DELTAS) + r.some(0.1, "--subsequential_label=9"), transducer=False),
    "draw": draw,
    "encode": encode,
    "epsnormalize": one("epsnormalize", lambda r: r.flag("eps_norm_output"), acyclic=True),
    "equal": test("equal"),
    "equivalent": test("equivalent"),
    "info": info,
    "intersect": two("intersect", filters, True, lambda c: dict(transducer=False), dict(transducer=False)),
    "invert": one("invert", NOTHING),
    "isomorphic": test("isomorphic"),
    "map": map_,
    "minimize": minimize,
    "print": print_,
    "project": one("project", lambda r: r.some(0.8, "--project_type=input", "--project_type=output")),
    "prune": one("prune", lambda r: r.some(0.9, *LIMITS) + r.some(0.2, "--nstate=4") + r.some(0.2, *DELTAS)),
    "push": one("push", push),
    "randgen": one("randgen", randgen),
    "relabel": relabel,
    "replace": replace,
    "reverse": one("reverse", lambda r: r.flag("require_superinitial")),
    "reweight": reweight,
    "rmepsilon": one("rmepsilon", lambda r: r.flag("connect", 0.5) + r.some(0.25, *LIMITS) + r.some(0.2, *QUEUES) + r.some(0.2, *DELTAS), eps=0.5),
    "shortestdistance": lambda c, at=None: [Step("shortestdistance", c.r.flag("reverse") + c.r.some(0.1, *LIMITS[:3]) + c.r.some(0.2, *QUEUES) + c.r.some(0.2, *DELTAS) + [at or c.make("a")], [])],
    "shortestpath": one("shortestpath", shortestpath),
    "symbols": symbols,
    "synchronize": one("synchronize", NOTHING, acyclic=True),
    "topsort": one("topsort", NOTHING),
    "union": two("union", NOTHING),
    "far": far,
    "pipeline": pipeline,
}
PIPED = [(op, OPS[op]) for op in ("arcsort closure compose concat connect convert determinize disambiguate epsnormalize intersect invert map minimize "
                                  "project prune push relabel replace reverse reweight rmepsilon shortestpath synchronize topsort union").split()]
