"""Runs the steps of a program over abstract values, in execution order, and records events.

What happens to values (containers, frames and arrays, library callables and objects) stands in
`leakcheck.flow.operations`. This module is the language itself: names, branches, loops, calls, classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import Column, Event, Learn, Loop, Mark, Score
from leakcheck.flow.facts import UnknownKind
from leakcheck.flow.heap import Heap
from leakcheck.flow.operations.builtin_functions import Builtins
from leakcheck.flow.operations.callables import Callables
from leakcheck.flow.operations.choices import Choices
from leakcheck.flow.operations.combining import Combining
from leakcheck.flow.operations.common import Evaluated, dotted_name, last_part, role_of_word, split_words
from leakcheck.flow.operations.containers import Containers
from leakcheck.flow.operations.data import DataOperations
from leakcheck.flow.operations.frames import Frames
from leakcheck.flow.operations.groups import Groups
from leakcheck.flow.operations.learners import Learners
from leakcheck.flow.operations.library import Library
from leakcheck.flow.operations.loading import Loading
from leakcheck.flow.operations.methods import Methods
from leakcheck.flow.operations.objects import Objects
from leakcheck.flow.operations.operators import Operators
from leakcheck.flow.operations.positions import Positions
from leakcheck.flow.operations.randomness import Randomness
from leakcheck.flow.operations.scoring import Scoring
from leakcheck.flow.operations.series import Series
from leakcheck.flow.operations.showing import Showing
from leakcheck.flow.operations.special import SpecialFunctions
from leakcheck.flow.operations.splitting import Splitting
from leakcheck.flow.operations.subscripts import Subscripts
from leakcheck.flow.operations.writes import Writes
from leakcheck.flow.prefilter import names_library
from leakcheck.flow.rows import Arms, Root, Rows, Site, begin_program, whole
from leakcheck.flow.tables import Api, Tables
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Choice,
    Class,
    Columns,
    Const,
    Data,
    DictObject,
    Function,
    Instance,
    Items,
    Lib,
    LibObject,
    ListObject,
    Method,
    Module,
    Partial,
    Ref,
    Unit,
    Value,
)
from leakcheck.project.source import Source

FindModule = Callable[[str, int, Source], Source | None]

_MOST_DEPTH = 320  # project functions that call each other
_MOST_NESTED = 6  # loops inside loops whose bodies are run twice
_MOST_WORK = 60_000  # statements of one program
_MOST_CALLS = 80  # of one function in one program
_MOST_CALLS_OF_PLAIN = 8  # of one in a module that imports no library of the tables
_MOST_WORK_OF_QUIET = 2000  # statements, of one function that never splits, learns or scores, in all its calls
_MOST_UNROLLED = 12  # items of a loop that is run round by round
_MOST_TARGETS = 6  # columns named by a loop that trains a model for each
_MOST_TAKEN_OUT = 40  # columns named by a loop that takes each out of a table
_SEEDS = frozenset({"random_state", "seed", "random_seed"})
_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "callable",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "map",
        "max",
        "min",
        "next",
        "object",
        "open",
        "pow",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "property",
        "staticmethod",
        "classmethod",
        "display",
        "input",
    ]
)
_OF_BUILTINS = frozenset(name for kind in (str, bytes, int, list, dict, set) for name in dir(kind))
_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_ORDERINGS = frozenset({"<", ">", "<=", ">="})


@dataclass(slots=True)
class Args:
    """The arguments of a call."""

    pos: list[Value]
    kw: dict[str, Value]
    star: bool = False  # some came from *args or **kwargs whose content is not known

    def all(self) -> list[Value]:
        return [*self.pos, *self.kw.values()]

    def get(self, index: int, name: str) -> Value | None:
        if name in self.kw:
            return self.kw[name]
        return self.pos[index] if 0 <= index < len(self.pos) else None


@dataclass(slots=True)
class Frame:
    """One activation: a module, a function call or a class body."""

    id: int
    returns: list[Value]
    yields: list[Value]
    exits: list[dict[Any, Any]]
    globals: set[str]
    owner: Value | None = None  # the object a method runs on
    function: Function | None = None


class Interpreter:
    """One program: the file it starts from and the project modules that it imports."""

    def __init__(self, tables: Tables, find_module: FindModule, parse: Callable[[Source], Any]) -> None:
        begin_program()
        self.tables = tables
        self.find_module = find_module
        self.parse = parse
        self.heap = Heap()
        self.events: dict[tuple[Any, ...], Event] = {}
        self.quiet_work: dict[Any, int] = {}  # statements of a function's calls that left no event
        self.unknown: dict[tuple[UnknownKind, str], dict[Site, None]] = {}
        self.units: dict[str, Unit] = {}
        self.sources: dict[int, Source] = {}  # by a unit's frame
        self.parents: dict[int, int] = {}  # the frame around a frame
        # What the code calls these rows, the first name first, and how deep in calls it does so.
        self.names: dict[Rows, dict[str, int]] = {}
        self.root_names: dict[Root, str] = {}
        self.cuts_used: set[tuple[Any, Any]] = set()
        self.named_choices: dict[Site, str] = {}  # comparisons of a test score with the best so far, by their names
        # Calls that append a row of which the same round appended another version.
        self.repeated_appends: set[Site] = set()
        self.made_columns: dict[Column, tuple[Column, Site]] = {}  # of which column each was made, and where
        self.loaders: list[tuple[str, Site, Rows, str]] = []  # each loader's name, its rows and its data set's name
        self.called: set[int] = set()
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.calls_of: dict[Any, int] = {}  # by the function's node, or the lambda itself
        self.loops: tuple[Loop, ...] = ()
        self.loop_of: dict[Any, Loop] = {}
        self.caller: Site | None = None
        self.cell: int | None = None
        self.work = 0
        self.control: frozenset[Mark] = NO_MARKS  # what was learned in the conditions that lead here
        self.enclosing: list[str] = []  # the functions whose arguments are being evaluated
        self.stack: list[Function] = []
        self.arms: Arms = ()  # the branches that lead here
        self.fitting = 0  # how many `fit(X, y)` of the project's classes are being run, one inside another
        self.symbolic = False  # running a function nobody calls
        self.events_of_run = 0  # how many events the program itself makes, before such functions
        self.data = DataOperations(self)
        self.containers = Containers(self)
        self.subscripts = Subscripts(self)
        self.writes = Writes(self)
        self.operators = Operators(self)
        self.positions = Positions(self)
        self.choices = Choices(self)
        self.frames = Frames(self)
        self.groups = Groups(self)
        self.series = Series(self)
        self.combining = Combining(self)
        self.methods = Methods(self)
        self.loading = Loading(self)
        self.splitting = Splitting(self)
        self.callables = Callables(self)
        self.randomness = Randomness(self)
        self.scoring = Scoring(self)
        self.showing = Showing(self)
        self.learners = Learners(self)
        self.objects = Objects(self)
        self.builtins = Builtins(self)
        self.special = SpecialFunctions(self)
        self.library = Library(self)
        self.main: Unit | None = None
        self.statement: s.Node = s.Node((1, 1, 1, 1))
        self._statements: dict[type, Callable[[Any], str | None]] = {
            s.ExprStmt: self._expr_stmt,
            s.Assign: self._assign,
            s.Declare: lambda node: None,
            s.AugAssign: self._aug_assign,
            s.Delete: self._delete,
            s.If: self._if,
            s.For: self._for,
            s.While: self._while,
            s.With: self._with,
            s.Try: self._try,
            s.Match: self._match,
            s.Function: self._function,
            s.Class: self._class,
            s.Return: self._return,
            s.Raise: self._raise,
            s.Assert: self._assert,
            s.Jump: lambda node: node.kind,
            s.Scope: self._scope,
            s.Import: self._import,
            s.ImportFrom: self._import_from,
        }
        self._expressions: dict[type, Callable[[Any], Value]] = {
            s.Name: self._name,
            s.Const: lambda node: Const(node.value),
            s.Attr: self._attr,
            s.Index: self._index,
            s.Slice: lambda node: UNKNOWN,
            s.Call: self._call,
            s.Star: lambda node: self.eval(node.value),
            s.Seq: self._seq,
            s.Dict: self._dict,
            s.Op: self._op,
            s.Ternary: self._ternary,
            s.Lambda: self._lambda,
            s.Comp: self._comp,
            s.Join: self._join_string,
            s.Named: self._named,
            s.Await: lambda node: self.eval(node.value),
            s.Yield: self._yield,
            Evaluated: lambda node: node.value,
        }

    # --- programs ------------------------------------------------------------------------------------------------

    def run(self, source: Source) -> None:
        """Interpret a file as the main program, then the functions in it that nobody called."""
        unit = self.load_unit(source, given=True, main=True)
        if self._is_unit_test(unit):
            return  # it checks code and reports no score
        self.symbolic = True
        self.events_of_run = len(self.events)
        self._run_uncalled(unit)

    def forget(self) -> None:
        """Let go of everything at once: what refers to each other here would wait for the garbage collector."""
        self.__dict__.clear()

    def _is_unit_test(self, unit: Unit) -> bool:
        name = unit.path.rsplit("/", 1)[-1]
        if name == "conftest.py":
            return True
        if not (name.startswith("test_") or name.endswith("_test.py")):
            return False
        return any(f.unit is unit and f.name.startswith("test") and f.name != "test" for f in self.functions)

    def load_unit(self, source: Source, *, given: bool = False, main: bool = False) -> Unit:
        known = self.units.get(source.path)
        if known is not None:
            return known
        frame = self.heap.frame()
        known_library = any(names_library(chunk.text.encode(), self.tables.libraries) for chunk in source.chunks)
        unit = Unit(source.path.removesuffix(".py"), source.path, frame, given, known_library)
        self.units[source.path] = unit
        self.sources[frame] = source
        if main:
            self.main = unit
        saved = self.frame, self.unit, self.cell, self.caller, self.loops, self.stack
        self.frame = Frame(frame, [], [], [], set())
        self.unit, self.caller, self.loops, self.stack = unit, None, (), []
        self.heap.set((frame, "__name__"), Const("__main__" if main else unit.name))
        self.heap.set((frame, "__file__"), Const(source.path))
        for cell, block in self.parse(source):
            self.cell = cell
            self.block(block)
        self.frame, self.unit, self.cell, self.caller, self.loops, self.stack = saved
        return unit

    frame: Frame = Frame(0, [], [], [], set())
    unit: Unit = Unit("", "", 0, False)

    def _run_uncalled(self, unit: Unit) -> None:
        # Constructors first, so that methods find the attributes which they set.
        for cls in [c for c in self.classes if c.unit is unit]:
            methods = self._own_methods(cls)
            if not methods or any(id(m.node) in self.called for m in methods if m.name == "__init__"):
                waiting = [m for m in methods if id(m.node) not in self.called]
                if not waiting or len(waiting) == len(methods):
                    continue
            self._run_class(cls, methods)
        for function in [f for f in self.functions if f.unit is unit and f.cls is None]:
            if id(function.node) not in self.called:
                self._run_symbolic(function, None)

    def _own_methods(self, cls: Class) -> list[Function]:
        methods = []
        for key, value in list(self.heap.cells.items()):
            if isinstance(key, tuple) and key[0] == cls.frame and isinstance(value, Function):
                methods.append(value)
        return methods

    def _run_class(self, cls: Class, methods: list[Function]) -> None:
        owner = self.heap.new(Instance(cls, {}, site=cls.site))
        methods = sorted(methods, key=lambda m: m.name != "__init__")
        for method in methods:
            # A method that another one calls is run from there, with what it is given.
            if method.name == "__init__" or id(method.node) not in self.called:
                self._run_symbolic(method, owner)

    def _run_symbolic(self, function: Function, owner: Value | None) -> None:
        site = Site(function.unit.path, function.cell, function.node.span if function.node else (1, 1, 1, 1))
        keywords: dict[str, Value] = {}
        params = list(function.params)
        pos: list[Value] = []
        if owner is not None and params and "staticmethod" not in function.decorators:
            pos.append(owner)
            params = params[1:]
        for param in params:
            if param.kind in ("*", "**"):
                continue
            keywords[param.name] = self.parameter(param, site)
        saved = self.unit, self.cell
        self.unit, self.cell = function.unit, function.cell
        returned = self.call_function(function, Args(pos, keywords), site, owner=owner)
        self.learners.handed_on(returned, site)
        self.unit, self.cell = saved

    def parameter(self, param: s.Param, site: Site) -> Value:
        """What stands for an argument that is not known: rows of their own."""
        if isinstance(param.default, s.Const) and not isinstance(param.default.value, type(None)):
            return Data(kind="scalar", number=self.heap.fresh())
        data = self.new_rows(param.name, site, "parameter", "unknown", name=param.name)
        self.hint(data.rows, param.name)
        return data

    def new_rows(
        self, what: str, site: Site, root_kind: str, kind: str, *, role: str = "", name: str = "", key: object = None
    ) -> Data:
        """A value with rows of its own; the same site gives the same root."""
        # What a known path holds is the same in every round of a loop; anything else is read anew.
        lasting = key is not None and not (isinstance(key, tuple) and key[0] is None)
        turns = () if lasting else tuple(loop.turn for loop in self.loops if loop.turn is not None)
        identity = ("root", site, what, key, turns)
        known = self.loop_of.get(identity)
        root = known if isinstance(known, Root) else Root(what, site, root_kind, role)
        self.loop_of[identity] = root  # type: ignore[assignment]
        frame = self.heap.number("frame", id(root))
        return Data(
            rows=whole(root),
            kind=kind,
            columns=Columns(frame) if kind in ("frame", "unknown") else None,
            number=self.heap.number("root", id(root)),
            name=name,
        )

    # --- places --------------------------------------------------------------------------------------------------

    def site(self, node: s.Node) -> Site:
        return Site(self.unit.path, self.cell, node.span, self.caller)

    def statement_site(self) -> Site:
        return self.site(self.statement)

    def emit(self, key: tuple[Any, ...], event: Event) -> Any:
        """Record an event once: a second round of a loop gives the same one."""
        return self.events.setdefault((type(event), *key), event)

    def note_unknown(self, kind: UnknownKind, name: str, site: Site) -> None:
        """Remember what isn't followed; what Python's own texts and containers offer is known to learn nothing."""
        if kind in (UnknownKind.METHOD, UnknownKind.VALUE) and name.rpartition(".")[2] in _OF_BUILTINS:
            return
        self.unknown.setdefault((kind, name), {})[site.bare()] = None

    # --- statements ----------------------------------------------------------------------------------------------

    def block(self, block: s.Block) -> str | None:
        """Run statements; the result says how the block was left: None, "return", "raise", "break", "continue"."""
        arms = self.arms
        for node in block:
            self.work += 1
            self.statement = node
            status = self._statements[type(node)](node)
            if status is not None:
                self.arms = arms
                return status
        self.arms = arms
        return None

    def _expr_stmt(self, node: s.ExprStmt) -> None:
        self.eval(node.value)

    def _assign(self, node: s.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _aug_assign(self, node: s.AugAssign) -> None:
        old = self.eval(node.target)
        new = self.eval(node.value)
        held = self.heap.load(old)
        if isinstance(held, ListObject) and isinstance(old, Ref) and node.op == "+":
            self.heap.set(old.address, self._extended(held, new))
            return
        self.bind(node.target, self.operate(node.op, [old, new], node))

    def _delete(self, node: s.Delete) -> None:
        for target in node.targets:
            if isinstance(target, s.Name):
                self.heap.delete((self.frame.id, target.id))
            elif isinstance(target, s.Index):
                base = self.eval(target.base)
                self.writes.delete_item(base, self.eval(target.index))

    def _branches(self, runs: Sequence[Callable[[], str | None]]) -> str | None:
        """Run each from the same state and join what the ones that go on have changed."""
        going, statuses = [], []
        outer, fork = self.arms, self.heap.fresh()
        after = outer
        for arm, run in enumerate(runs):
            self.arms = (*outer, (fork, arm))
            status, changes = self.heap.attempt(run)
            statuses.append(status)
            if status is None:
                going.append(changes)
                after = self.arms
            elif status != "raise":
                self.frame.exits.append(changes)
        # Where one arm alone goes on, what follows belongs to it.
        self.arms = after if len(going) == 1 < len(runs) else outer
        if going:
            self.heap.apply(going)
            return None
        return statuses[0] if statuses else None

    def _if(self, node: s.If) -> str | None:
        test = self.eval(node.test)
        known = self.truth(test)
        if known is True:
            return self.block(node.body)
        if known is False:
            return self.block(node.orelse)
        self.choices.note_choice(test, node.test, node.body)
        outer, self.control = self.control, self.control | self._learned_in(test)
        try:
            return self._branches([lambda: self.block(node.body), lambda: self.block(node.orelse)])
        finally:
            self.control = outer

    def _learned_in(self, test: Value) -> frozenset[Mark]:
        """What chose features in a condition; that a mean decides a branch shapes no data."""
        held = self.heap.load(test)
        if not isinstance(held, Data):
            return NO_MARKS
        return frozenset(
            m for m in held.marks if isinstance(m, Learn) and (m.fitted or m.category in ("selection", "relation"))
        )

    def truth(self, value: Value) -> bool | None:
        held = self.heap.load(value)
        if isinstance(held, Const) and not isinstance(held.value, str | bytes):
            return bool(held.value)
        return None

    def loop(self, node: s.Node, count: int | None, over: str, turn: int | None = None) -> Loop:
        key = (self.unit.path, self.cell, node.span, turn)
        known = self.loop_of.get(key)
        if known is None or known.count != count or known.over != over:
            known = self.loop_of[key] = Loop(Site(self.unit.path, self.cell, node.span), count, over, turn)
        return known

    def _for(self, node: s.For) -> str | None:
        iterable = self.eval(node.iter)
        items, element, over = self.containers.iterate(iterable, self.site(node))
        count = len(items) if items is not None else self.containers.length(iterable)
        over = self._repeats(node.target, over, node.iter)
        if over == "configurations" and isinstance(node.target, s.Name) and not s.mentions(node.body, node.target.id):
            over = "rounds"  # of one and the same thing
        if isinstance(node.target, s.Name) and over in ("configurations", "items"):
            over = self._seeds(node.body, node.target.id, over)
        self.repeated_appends.update(Site(self.unit.path, self.cell, span) for span in s.repeated_appends(node.body))
        outer, self.loops = self.loops, (*self.loops, self.loop(node, count, over))
        exits, self.frame.exits = self.frame.exits, []
        try:
            if items is not None and (self._worth_unrolling(items) or self._column_by_column(node, items)):
                for turn, item in enumerate(items):
                    self.loops = (*outer, self.loop(node, 1, over, turn))
                    self.bind(node.target, item)
                    self.block(node.body)
            else:
                if isinstance(self.heap.load(iterable), ListObject):
                    element = self.data.item(element, self.loops[-1])
                element = _of_round(element)
                self._two_rounds(node.body, lambda: self.bind(node.target, element))
        finally:
            self.loops = outer
            leftover, self.frame.exits = self.frame.exits, exits
        if leftover:
            self.heap.apply([{}, *leftover])
        return self.block(node.orelse)

    def _repeats(self, target: s.Expr, over: str, iterable: s.Expr) -> str:
        """What a loop repeats over, by the names that it binds."""
        names = " ".join(_names(target)).lower()
        if over == "folds":
            return over
        if "seed" in names or "random_state" in names or names in ("rs", "trial", "run"):
            return "seeds"
        if "epoch" in names or names in ("step", "iteration", "it", "iter"):
            return "epochs"
        if "fold" in names:
            return "folds"
        if "thresh" in names or names in ("th", "thr", "cutoff"):
            return "thresholds"
        counts = isinstance(iterable, s.Call) and isinstance(iterable.func, s.Name) and iterable.func.id == "range"
        if names == "t" and not counts:  # over a range it is a point in time
            return "thresholds"
        return over

    def _seeds(self, body: object, name: str, over: str) -> str:
        """What a loop repeats over, by the parameters that its variable is given for."""
        keywords, places = s.given(body, name)
        given = set(keywords)
        for called, place in places:
            function = self.heap.load(self.eval(called))
            if isinstance(function, Function) and place < len(function.params):
                given.add(function.params[place].name)
        return "seeds" if given and given <= _SEEDS else over

    def _worth_unrolling(self, items: Sequence[Value]) -> bool:
        # Known objects and tables keep their identity; numbers are looked at as one.
        spread = 1
        for loop in self.loops[:-1]:
            spread *= loop.count or 2
        if len(items) > _MOST_UNROLLED or spread * len(items) > 48:
            return False
        constants = [self.heap.load(item) for item in items]
        named = any(isinstance(c, Const) and role_of_word(c.value) for c in constants)
        return named or any(not isinstance(c, Const) for c in constants)

    def _column_by_column(self, node: s.For, items: Sequence[Value]) -> bool:
        """Whether a model is trained for each of a few columns that the loop names, or each is taken out of a table."""
        named = all(isinstance(c, Const) and isinstance(c.value, str) for c in map(self.heap.load, items))
        if not named or not isinstance(node.target, s.Name):
            return False
        if len(items) <= _MOST_TARGETS and s.calls_method(node.body, "fit"):
            return s.picks_with(node.body, node.target.id)
        return len(items) <= _MOST_TAKEN_OUT and s.takes_out(node.body, node.target.id)

    def _while(self, node: s.While) -> str | None:
        loop = self.loop(node, None, "items")
        outer, self.loops = self.loops, (*self.loops, loop)
        exits, self.frame.exits = self.frame.exits, []
        self._two_rounds(node.body, lambda: self.eval(node.test))
        self.loops, self.frame.exits = outer, exits
        return self.block(node.orelse)

    def _two_rounds(self, body: s.Block, begin: Callable[[], object]) -> None:
        """Run a loop's body twice, so that what a round leaves meets the next one.

        A body that changes nothing it did not make itself would do the same again: one round is enough.
        """
        rounds = 2
        if len(self.loops) > _MOST_NESTED:
            self.note_unknown(UnknownKind.LIMIT, "a loop inside too many others", self.loops[-1].site)
            rounds = 1
        for turn in range(rounds):
            begin()
            _, changes = self.heap.attempt(lambda: self.block(body))
            lasting = any(key in self.heap.cells for key in changes) or bool(self.frame.exits)
            self.heap.apply([changes, *self.frame.exits, *([{}] if not turn else [])])
            self.frame.exits = []
            if not lasting:
                return

    def _with(self, node: s.With) -> str | None:
        for item, target in node.items:
            value = self.eval(item)
            held = self.heap.load(value)
            if isinstance(held, Instance):
                entered = self.call_method(value, "__enter__", Args([], {}), self.site(node))
                value = entered if entered is not None else value
            if target is not None:
                self.bind(target, value)
        return self.block(node.body)

    def _try(self, node: s.Try) -> str | None:
        outer, fork = self.arms, self.heap.fresh()
        self.arms = (*outer, (fork, 0))
        status = self.block(node.body)
        if status == "raise":
            status = None
        runs: list[Callable[[], str | None]] = [lambda: status]
        for handler in node.handlers:
            runs.append(self._handler(handler))
        self.arms = (*outer, (fork, 1))
        if len(runs) > 1:
            status = self._branches(runs)
        self.arms = outer
        if status is None:
            status = self.block(node.orelse)
        final = self.block(node.final)
        return final or status

    def _handler(self, handler: s.Handler) -> Callable[[], str | None]:
        def run() -> str | None:
            if handler.name:
                self.heap.set((self.frame.id, handler.name), UNKNOWN)
            return self.block(handler.body)

        return run

    def _match(self, node: s.Match) -> str | None:
        subject = self.eval(node.subject)
        runs: list[Callable[[], str | None]] = [lambda: None]

        def case_run(case: s.Case) -> Callable[[], str | None]:
            def run() -> str | None:
                for name in case.names:
                    self.heap.set((self.frame.id, name), subject)
                return self.block(case.body)

            return run

        runs += [case_run(case) for case in node.cases]
        return self._branches(runs)

    def _return(self, node: s.Return) -> str:
        self.frame.returns.append(self.eval(node.value) if node.value is not None else NONE)
        return "return"

    def _raise(self, node: s.Raise) -> str:
        if node.value is not None:
            self.eval(node.value)
        return "raise"

    def _assert(self, node: s.Assert) -> None:
        self.eval(node.test)

    def _scope(self, node: s.Scope) -> None:
        self.frame.globals.update(node.names)

    # --- definitions and imports ---------------------------------------------------------------------------------

    def _function(self, node: s.Function) -> None:
        defaults = tuple((p.name, self.eval(p.default)) for p in node.params if p.default is not None)
        function = Function(
            node.name,
            node.params,
            node.body,
            self.unit,
            self.cell,
            self.frame.id,
            defaults,
            node.is_generator,
            tuple(dotted_name(d) for d in node.decorators),
            node,
            self._class_being_made,
        )
        self.functions.append(function)
        value: Value = function
        for decorator in reversed(node.decorators):
            around = self.eval(decorator)
            if isinstance(around, Function):
                made = self.call(around, Args([value], {}), self.site(decorator))
                value = made if isinstance(made, Function | Method | Partial) else value
        self.set_name(node.name, value)

    _class_being_made: Class | None = None

    def _class(self, node: s.Class) -> None:
        bases = tuple(self.eval(arg.value) for arg in node.bases if arg.keyword is None and not arg.star)
        frame = self.heap.frame()
        self.parents[frame] = self.frame.id
        fields: list[tuple[str, Value | None]] = []
        for part in node.body:
            if isinstance(part, s.Declare) and isinstance(part.target, s.Name):
                fields.append((part.target.id, None))
            elif isinstance(part, s.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], s.Name):
                fields.append((part.targets[0].id, UNKNOWN))
        decorators = [last_part(dotted_name(d)) for d in node.decorators]
        kind = "class"
        if any(isinstance(b, Lib) and b.name.endswith("NamedTuple") for b in bases):
            kind = "namedtuple"
        elif any(name in ("dataclass", "define", "attrs", "s") for name in decorators):
            kind = "dataclass"
        cls = Class(node.name, self.unit, bases, frame, tuple(fields), kind, self.site(node))
        self.classes.append(cls)
        saved, self.frame = self.frame, Frame(frame, [], [], [], set())
        outer, self._class_being_made = self._class_being_made, cls
        self.block(node.body)
        self._class_being_made = outer
        self.frame = saved
        self.set_name(node.name, cls)

    def _import(self, node: s.Import) -> None:
        for dotted, bound in node.modules:
            if bound is not None:
                self.set_name(bound, self.import_module(dotted, 0))
            else:
                value = self.import_module(dotted, 0)
                first = dotted.split(".")[0]
                if first == dotted or isinstance(value, Lib):
                    self.set_name(first, value if first == dotted else Lib(first))
                else:
                    top = self.import_module(first, 0)
                    self.set_name(first, top if isinstance(top, Module) else Lib(first))
                    self.heap.set((self.unit.frame, "import " + dotted), value)

    def import_module(self, dotted: str, level: int) -> Value:
        source = self.find_module(dotted, level, self.sources[self.unit.frame])
        if source is None:
            return Lib(dotted)
        return Module(self.load_unit(source))

    def _import_from(self, node: s.ImportFrom) -> None:
        base = self.import_module(node.module, node.level)
        for name, bound in node.names:
            if name == "*":
                if isinstance(base, Module):
                    for key, value in list(self.heap.cells.items()):
                        if isinstance(key, tuple) and key[0] == base.unit.frame and not key[1].startswith("_"):
                            self.set_name(key[1], value)
                elif isinstance(base, Lib):
                    for star, qualified in self.tables.star(base.name).items():
                        self.set_name(star, Lib(qualified))
                    if node.level:
                        self.note_unknown(UnknownKind.IMPORT, "." * node.level + node.module, self.site(node))
                continue
            self.set_name(bound, self._imported(base, node, name))

    def _imported(self, base: Value, node: s.ImportFrom, name: str) -> Value:
        if isinstance(base, Module):
            value = self.heap.get((base.unit.frame, name))
            if value is not None:
                return value  # type: ignore[no-any-return]
        dotted = f"{node.module}.{name}" if node.module else name
        source = self.find_module(dotted, node.level, self.sources[self.unit.frame])
        if source is not None:
            return Module(self.load_unit(source))
        if isinstance(base, Module):
            self.note_unknown(UnknownKind.IMPORT, f"{name} from {base.unit.path}", self.site(node))
            return UNKNOWN
        if node.level:
            self.note_unknown(UnknownKind.IMPORT, "." * node.level + (node.module or name), self.site(node))
        return Lib(f"{node.module}.{name}")

    # --- names and targets ---------------------------------------------------------------------------------------

    def set_name(self, name: str, value: Value) -> None:
        frame = self.unit.frame if name in self.frame.globals else self.frame.id
        self.heap.set((frame, name), value)

    def _name(self, node: s.Name) -> Value:
        name = node.id
        cells = self.heap.cells
        frame: int | None = self.unit.frame if name in self.frame.globals else self.frame.id
        while frame is not None:
            value = cells.get((frame, name))
            if value is not None:
                return value  # type: ignore[no-any-return]
            frame = self.parents.get(frame)
        if name in _BUILTINS:
            return Lib("builtins." + name)
        return Data(number=self.heap.number("name", name), name=name)

    def bind(self, target: s.Expr, value: Value) -> None:
        """Assign a value to a target."""
        if isinstance(target, s.Name):
            self.set_name(target.id, self.boxed(value, target.id))
        elif isinstance(target, s.Seq):
            self._unpack(target, value)
        elif isinstance(target, s.Attr):
            base = self.eval(target.base)
            self.set_attr(base, target.name, self.boxed(value, dotted_name(target)))
        elif isinstance(target, s.Index):
            self.writes.set_item(target, value)
        elif isinstance(target, s.Star):
            self.bind(target.value, value)

    def boxed(self, value: Value, name: str) -> Value:
        """Rows that get a name can be changed through it: they move to the heap."""
        if isinstance(value, Data):
            if value.rows:
                if value.kind != "row" or any(map(role_of_word, split_words(name))):  # else one item of many
                    self.hint(value.rows, name)
                if value.kind == "loader" and value.name and "." not in value.name:
                    self.loaders.append((name, self.statement_site().bare(), value.rows, value.name))
                return self.heap.new(value.but(name=name, made_at=self.statement_site()))
            return self.heap.new(value.but(name=name)) if value.kind == "array" else value
        if isinstance(value, Ref):
            held = self.heap.load(value)
            if isinstance(held, Data) and held.rows:
                self.hint(held.rows, name)
        return value

    def hint(self, rows: Rows, name: str) -> None:
        known, depth = self.names.setdefault(rows, {}), len(self.stack)
        known[name] = min(depth, known.get(name, depth))
        for root, cuts in rows:
            if not cuts:
                self.root_names.setdefault(root, name)

    def _unpack(self, target: s.Seq, value: Value) -> None:
        count = len(target.items)
        starred = [i for i, item in enumerate(target.items) if isinstance(item, s.Star)]
        parts = self.containers.unpack(value, count if not starred else None)
        if starred and parts is not None:
            i = starred[0]
            after = count - i - 1
            middle = self.heap.new(ListObject(tuple(parts[i : len(parts) - after])))
            parts = [*parts[:i], middle, *(parts[len(parts) - after :] if after else [])]
        if parts is None or len(parts) != count:
            part = self.containers.element(value)
            parts = [part] * count
        for item, part in zip(target.items, self._parts_by_name(target, value, parts), strict=True):
            self.bind(item, part)

    def _parts_by_name(self, target: s.Seq, value: Value, parts: list[Value]) -> list[Value]:
        """What unknown code returns together, taken apart by the names: `train, test = load()`."""
        held = self.heap.load(value)
        loaded = isinstance(held, Data) and all(root.kind in ("unknown", "loader") for root, _ in held.rows)
        if not isinstance(held, Data) or not (loaded or "call" in held.flags):
            return parts
        roles = [
            next((r for r in (role_of_word(w) for w in split_words(dotted_name(item))) if r), "")
            for item in target.items
        ]
        if len(set(roles) - {""}) < 2 or any(self.heap.data(part).rows != held.rows for part in parts):
            return parts
        if "call" in held.flags:
            names = zip(parts, roles, map(dotted_name, target.items), strict=True)
            return [self.data.part_returned(held, part, role, name) for part, role, name in names]
        return [self.data.part_named(held, part, role) for part, role in zip(parts, roles, strict=True)]

    def set_attr(self, base: Value, name: str, value: Value) -> None:
        if isinstance(base, Choice):
            for option in base.options:
                self.set_attr(option, name, value)
            return
        if isinstance(base, Module):
            self.heap.set((base.unit.frame, name), value)
        if isinstance(base, Class):
            self.heap.set((base.frame, name), value)
        if not isinstance(base, Ref):
            return
        held = self.heap.load(base)
        if isinstance(held, Instance | LibObject):
            self.heap.set(base.address, replace(held, attrs={**held.attrs, name: value}))
        elif isinstance(held, Data) and name == "columns":
            frame = self.heap.fresh()
            self.heap.set(base.address, held.but(columns=Columns(frame, rest=held.marks), number=frame))
        elif isinstance(held, Data) and name == "index" and "datetime" in self.heap.data(value).flags:
            self.heap.set(base.address, self.series.indexed(held, "the index", self.statement_site()))
        elif isinstance(held, Data) and name not in ("index", "name", "attrs", "shape", "requires_grad"):
            self.writes.set_column(base, name, value)

    # --- expressions ---------------------------------------------------------------------------------------------

    def eval(self, node: s.Expr) -> Value:
        return self._expressions[type(node)](node)

    def _attr(self, node: s.Attr) -> Value:
        return self.get_attr(self.eval(node.base), node.name, node)

    def get_attr(self, base: Value, name: str, node: s.Node) -> Value:
        if isinstance(base, Lib):
            return Lib(f"{base.name}.{name}")
        if isinstance(base, Module):
            value = self.heap.get((base.unit.frame, name))
            if value is not None:
                return value  # type: ignore[no-any-return]
            source = self.find_module(name, 1, self.sources[base.unit.frame])
            return Module(self.load_unit(source)) if source is not None else UNKNOWN
        if isinstance(base, Choice):
            options = self.splitting.preferred(base.options) if name == "split" else base.options
            return self.heap.join_all([self.get_attr(option, name, node) for option in options])  # type: ignore[no-any-return]
        if isinstance(base, Class):
            found = self.class_attr(base, name)
            if isinstance(found, Function) and "classmethod" in found.decorators:
                return Method(base, found, name)
            return found if found is not None else Lib(f"{self._lib_name(base)}.{name}")
        held = self.heap.load(base)
        if isinstance(held, Instance):
            if name in held.attrs:
                return held.attrs[name]
            found = self.class_attr(held.cls, name)
            if isinstance(found, Function):
                if "property" in found.decorators or "cached_property" in found.decorators:
                    return self.call_function(found, Args([base], {}), self.site(node), owner=base)
                if "staticmethod" in found.decorators:
                    return found
                return Method(base, found, name)
            if found is not None:
                return found
            return Method(base, None, name)
        if isinstance(held, Items) and name in held.fields:
            return held.items[held.fields.index(name)]
        if isinstance(held, DictObject) and name in held.items and isinstance(base, Ref):
            return held.items[name]
        if isinstance(held, LibObject):
            if name in held.attrs:
                return held.attrs[name]
            return self.objects.get_attr(base, held, name)
        if isinstance(held, Method):
            held = base = self.subscripts.field_taken(held) or base
        if isinstance(held, Data):
            return self.subscripts.get_attr(base, held, name, node)
        if isinstance(held, Method) and held.function is None and isinstance(self.heap.load(held.owner), Data):
            return self.get_attr(held.owner, name, node)  # it was a field: `out.logits.argmax(-1)`
        return Method(base, None, name)

    def class_attr(self, cls: Class, name: str, skip: Class | None = None) -> Value | None:
        """An attribute of a class or its project bases."""
        if cls is not skip:
            value = self.heap.get((cls.frame, name))
            if value is not None:
                return value  # type: ignore[no-any-return]
        for base in cls.bases:
            if isinstance(base, Class):
                value = self.class_attr(base, name)
                if value is not None:
                    return value
        return None

    def _lib_name(self, cls: Class) -> str:
        for base in cls.bases:
            if isinstance(base, Lib):
                return base.name
            if isinstance(base, Class):
                return self._lib_name(base)
        return cls.name

    def lib_base(self, cls: Class) -> Api | None:
        """What the library class that a project class derives from is."""
        for base in cls.bases:
            api = None
            if isinstance(base, Lib):
                api = self.tables.lookup(base.name)
            elif isinstance(base, Class):
                api = self.lib_base(base)
            if api is not None:
                return api
        return None

    def base_names(self, cls: Class) -> list[str]:
        names: list[str] = []
        for base in cls.bases:
            if isinstance(base, Lib):
                names.append(last_part(base.name))
            elif isinstance(base, Class):
                names += [base.name, *self.base_names(base)]
        return names

    def _index(self, node: s.Index) -> Value:
        base = self.eval(node.base)
        return self.subscripts.get_item(base, node.index, node)

    def _seq(self, node: s.Seq) -> Value:
        items: list[Value] = []
        known = True
        for item in node.items:
            if isinstance(item, s.Star):
                inner = self.eval(item.value)
                parts = self.containers.unpack(inner, None)
                if parts is None:
                    known = False
                    items.append(self.containers.element(inner))
                else:
                    items += parts
            else:
                items.append(self.eval(item))
        if self.scoring.several:
            self.showing.meet(items, self.site(node))
        if node.kind == "tuple" and known:
            return Items(tuple(items))
        if not known:
            return self.heap.new(ListObject(None, self.heap.join_all(items)))
        return self.heap.new(ListObject(tuple(items)))

    def _dict(self, node: s.Dict) -> Value:
        items: dict[Any, Value] = {}
        rest: Value | None = None
        for key, value_node in node.items:
            value = self.eval(value_node)
            if key is None:
                held = self.heap.load(value)
                if isinstance(held, DictObject):
                    items.update(held.items)
                    rest = held.any if rest is None else rest
                continue
            known = self.heap.load(self.eval(key))
            if isinstance(known, Const):
                items[known.value] = value
                if isinstance(known.value, str) and any(role_of_word(w) for w in split_words(known.value)):
                    rows = self.heap.data(value).rows
                    if rows:
                        self.hint(rows, known.value)
            else:
                rest = value if rest is None else self.heap.join(rest, value)
        if self.scoring.several:
            self.showing.meet(items.values(), self.site(node))
        return self.heap.new(DictObject(items, rest))

    def _op(self, node: s.Op) -> Value:
        values = [self.eval(operand) for operand in node.operands]
        return self.operate(node.op, values, node)

    def operate(self, op: str, values: list[Value], node: s.Node) -> Value:
        held = [self.heap.load(v) for v in values]
        if all(isinstance(h, Const) for h in held):
            folded = _fold(op, [h.value for h in held])
            if folded is not None:
                return folded
        if (
            op == "+"
            and len(held) == 2
            and isinstance(held[0], ListObject | Items)
            and isinstance(held[1], ListObject | Items)
        ):
            return self._concatenated(held[0], held[1])
        if op in ("*",) and len(held) == 2 and isinstance(held[0], ListObject) and isinstance(held[1], Const):
            return values[0]
        if op == "==" and len(held) == 2 and all(isinstance(h, Const | Data) for h in held):
            pass
        if op in ("and", "or"):
            return self.heap.join_all(values)  # type: ignore[no-any-return]
        if op in ("is", "is not", "in", "not in", "not") and not any(self.heap.data(v).rows for v in values):
            if op in ("is", "is not") and len(held) == 2 and isinstance(held[1], Const) and held[1].value is None:
                if isinstance(held[0], Const):
                    return Const((held[0].value is None) == (op == "is"))
                if isinstance(held[0], Data) and any(root.kind == "parameter" for root, _ in held[0].rows):
                    return UNKNOWN
                if not isinstance(held[0], Data | Choice) or (isinstance(held[0], Data) and "given" in held[0].flags):
                    return Const(op == "is not")
            return Data(kind="scalar", number=self.heap.fresh())
        return self.operators.operate(op, values, node)

    def _concatenated(self, a: ListObject | Items, b: ListObject | Items) -> Value:
        if isinstance(a, Items) and isinstance(b, Items):
            return Items(a.items + b.items)
        if a.items is not None and b.items is not None:
            return self.heap.new(ListObject(a.items + b.items))
        parts = [*(a.items or ()), *(b.items or ())]
        parts += [x.any for x in (a, b) if isinstance(x, ListObject) and x.any is not None]
        return self.heap.new(ListObject(None, self.heap.join_all(parts)))

    def _extended(self, held: ListObject, more: Value) -> ListObject:
        parts = self.containers.unpack(more, None)
        if held.items is not None and parts is not None and not self.loops:
            return ListObject(held.items + tuple(parts))
        inner = [*(held.items or ()), *([held.any] if held.any is not None else [])]
        inner += parts if parts is not None else [self.containers.element(more)]
        return ListObject(None, self.heap.join_all(inner))

    def _ternary(self, node: s.Ternary) -> Value:
        test = self.eval(node.test)
        known = self.truth(test)
        if known is not None:
            return self.eval(node.body if known else node.orelse)
        self.choices.note_choice(test, node.test, None)
        either = self.on_each((node.body, node.orelse), self.eval)
        joined: Value = self.heap.join(*either)
        held, decided = self.heap.load(joined), self.heap.load(test)
        if isinstance(held, Data) and isinstance(decided, Data) and decided.rows and not held.rows:
            # Constants chosen by a row's value are a value of that row.
            return held.but(rows=decided.rows, sources=decided.sources, kind="row")
        return joined

    def on_each(self, options: Sequence[Any], run: Callable[[Any], Value]) -> list[Value]:
        """What is done to one of several, each in an arm of its own."""
        outer, fork = self.arms, self.heap.fresh()
        results = []
        for arm, option in enumerate(options):
            self.arms = (*outer, (fork, arm))
            results.append(run(option))
        self.arms = outer
        return results

    def _lambda(self, node: s.Lambda) -> Value:
        defaults = tuple((p.name, self.eval(p.default)) for p in node.params if p.default is not None)
        body: s.Block = (s.Return(node.span, node.body),)
        return Function("<lambda>", node.params, body, self.unit, self.cell, self.frame.id, defaults, False, (), None)

    def _comp(self, node: s.Comp) -> Value:
        known = self._columns_but(node) or self.positions.left_by(node)
        if known is not None:
            return known
        outer = self.loops
        results: list[Value] = []
        keyed: dict[Any, Value] = {}
        exact = self._run_comp(node, 0, results, keyed)
        self.loops = outer
        if self.positions.pieces and not exact:
            results = [self.positions.all_but_one(node, value) for value in results]
        if node.kind == "dict":
            if exact:
                return self.heap.new(DictObject(keyed))
            return self.heap.new(DictObject(keyed, self.heap.join_all(results)))
        if exact:
            return self.heap.new(ListObject(tuple(results)))
        return self.heap.new(ListObject(None, self.heap.join_all(results)))

    def _columns_but(self, node: s.Comp) -> Value | None:
        """`[c for c in df.columns if c not in ("id", "y")]`: the columns less the named ones."""
        part, element = node.loops[0], node.element
        if len(node.loops) != 1 or node.key is not None:
            return None
        if not isinstance(element, s.Name) or not isinstance(part.target, s.Name) or element.id != part.target.id:
            return None
        gone: list[str] = []
        for test in part.tests:
            if not isinstance(test, s.Op) or test.op not in ("!=", "not in") or len(test.operands) != 2:
                return None
            left, right = test.operands
            if not isinstance(left, s.Name) or left.id != element.id:
                return None
            names = self.data.names_in(self.heap.load(self.eval(right)))
            if names is None:
                return None
            gone += names
        held = self.heap.load(self.eval(part.iter))
        if not isinstance(held, Data) or held.columns is None or held.kind not in ("columns", "frame"):
            return None
        listed = held if held.kind == "columns" else self.heap.data(self.get_attr(held, "columns", node))
        if listed.kind != "columns":
            return None
        return self.heap.new(self.data.fewer_columns(listed, gone))

    def _run_comp(self, node: s.Comp, depth: int, results: list[Value], keyed: dict[Any, Value]) -> bool:
        if depth == len(node.loops):
            value = self.eval(node.element)
            results.append(value)
            if node.key is not None:
                key = self.heap.load(self.eval(node.key))
                if isinstance(key, Const):
                    keyed[key.value] = value
            return True
        part = node.loops[depth]
        iterable = self.eval(part.iter)
        items, element, over = self.containers.iterate(iterable, self.site(part))
        count = len(items) if items is not None else self.containers.length(iterable)
        over = self._repeats(part.target, over, part.iter)
        if isinstance(part.target, s.Name) and over in ("configurations", "items"):
            over = self._seeds(node, part.target.id, over)
        outer, self.loops = self.loops, (*self.loops, self.loop(part, count, over))
        exact = items is not None and not part.tests and (len(items) <= 64 if depth == 0 else len(items) <= 4)
        if exact and items is not None and (self._worth_unrolling(items) or all(isinstance(i, Const) for i in items)):
            for turn, item in enumerate(items):
                self.loops = (*outer, self.loop(part, 1, over, turn))
                self.bind(part.target, item)
                exact = self._run_comp(node, depth + 1, results, keyed) and exact
        else:
            exact = False
            inner = self.heap.load(iterable)
            start = len(results)
            if isinstance(inner, ListObject):
                element = self.data.item(element, self.loops[-1])
            # What the comprehension gives back as it is, is of no round.
            self.bind(part.target, element if isinstance(node.element, s.Name) else _of_round(element))
            for test in part.tests:
                decided = self._learned_in(self.eval(test))
                if decided:
                    # What is kept was decided by something learned.
                    results.append(Data(kind="scalar", marks=decided, number=self.heap.fresh()))
            self._run_comp(node, depth + 1, results, keyed)
            if isinstance(inner, Data) and inner.kind == "row":
                # Items of one row: what is computed over them stays within the row.
                within = [self.heap.load(value) for value in results[start:]]
                results[start:] = [
                    v.but(flags=v.flags | {"within"}) if isinstance(v, Data) else old
                    for v, old in zip(within, results[start:], strict=True)
                ]
        self.loops = outer
        return exact

    def _join_string(self, node: s.Join) -> Value:
        texts = [""]  # what is known, broken where it is not
        values = [self.eval(part) for part in node.parts]
        if self.scoring.several:
            self.showing.meet(values, self.site(node))
        for part in values:
            value = self.heap.load(part)
            if isinstance(value, Const):
                texts[-1] += str(value.value)
            else:
                texts.append("")
        if len(texts) == 1:
            return Const(texts[0])
        shown = NO_MARKS
        if self.scoring.models:
            self.showing.call(values)
            shown = frozenset(m for value in values for m in self.heap.data(value).marks if isinstance(m, Score))
        return Data(kind="scalar", marks=shown, number=self.heap.fresh(), name=f"{texts[0]}*{texts[-1]}")

    def _named(self, node: s.Named) -> Value:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    def _yield(self, node: s.Yield) -> Value:
        value = self.eval(node.value) if node.value is not None else NONE
        self.frame.yields.append(self.containers.element(value) if node.delegate else value)
        return UNKNOWN

    # --- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: s.Call) -> Value:
        func = node.func
        if isinstance(func, s.Name) and func.id == "super":
            return self.eval_super()
        if isinstance(func, s.Attr) and isinstance(func.base, s.Index | s.Attr) and _in_place(node):
            return self._call_in_place(node, func)
        callee = self.eval(func)
        self.enclosing.append(func.name if isinstance(func, s.Attr) else getattr(func, "id", ""))
        try:
            args = self.arguments(node)
        finally:
            self.enclosing.pop()
        if isinstance(callee, Data | Ref):
            self._note_unknown_callee(callee, func, self.site(node))
        return self.call(callee, args, self.site(node))

    def _note_unknown_callee(self, callee: Value, func: s.Expr, site: Site) -> None:
        held = self.heap.load(callee)
        if isinstance(held, Data) and held.kind == "series" and isinstance(func, s.Attr):
            self.note_unknown(UnknownKind.METHOD, f".{func.name}", site)  # taken for a column at first
        elif isinstance(held, Data):
            self.note_unknown(UnknownKind.VALUE, dotted_name(func) or "the result of a call", site)

    def _call_in_place(self, node: s.Call, func: s.Attr) -> Value:
        """`df[name].fillna(0, inplace=True)`: the result goes back to where the column came from."""
        base = self.eval(func.base)
        if not isinstance(base, Data):
            return self.call(self.get_attr(base, func.name, func), self.arguments(node), self.site(node))
        ref = self.heap.new(base)
        result = self.call(self.get_attr(ref, func.name, func), self.arguments(node), self.site(node))
        after = self.heap.load(ref)
        if after is not base:
            self.bind(func.base, after)
        return result

    def eval_super(self) -> Value:
        owner, function = self.frame.owner, self.frame.function
        if owner is None or function is None:
            return UNKNOWN
        return Partial(Lib("builtins.super"), (owner,), ())

    def arguments(self, node: s.Call) -> Args:
        args = Args([], {})
        for arg in node.args:
            value = self.eval(arg.value)
            if arg.star == "*":
                parts = self.containers.unpack(value, None)
                if parts is None:
                    args.star = True
                    args.pos.append(self.containers.element(value))
                else:
                    args.pos += parts
            elif arg.star == "**":
                held = self.heap.load(value)
                if isinstance(held, DictObject):
                    args.kw.update({k: v for k, v in held.items.items() if isinstance(k, str)})
                    args.star = args.star or held.any is not None
                    value = held.any or NONE
                else:
                    args.star = True
                if self.heap.data(value).rows:
                    args.kw["**"] = value  # under names that aren't known: no parameter is called so
            elif arg.keyword is not None:
                args.kw[arg.keyword] = value
            else:
                args.pos.append(value)
        return args

    def call(self, callee: Value, args: Args, site: Site) -> Value:
        if isinstance(callee, Function):
            return self.call_function(callee, args, site)
        if isinstance(callee, Method):
            return self._call_bound(callee, args, site)
        if isinstance(callee, Lib):
            return self.library.call(callee.name, args, site)
        if isinstance(callee, Class):
            return self.instantiate(callee, args, site)
        if isinstance(callee, Partial):
            joined = Args([*callee.args, *args.pos], {**dict(callee.keywords), **args.kw}, args.star)
            return self.call(callee.function, joined, site)
        if isinstance(callee, Choice):
            if all(isinstance(option, Method) and option.function is None for option in callee.options):
                # `(test if n % 10 == 0 else train).append(row)`
                return self.heap.join_all(self.on_each(callee.options, lambda option: self.call(option, args, site)))  # type: ignore[no-any-return]
            return self.heap.join_all([self.call(option, args, site) for option in callee.options])  # type: ignore[no-any-return]
        held = self.heap.load(callee)
        if isinstance(held, LibObject):
            return self.objects.call_object(callee, held, args, site)
        if isinstance(held, Instance):
            for name in ("__call__", "forward", "call"):
                function = self.class_attr(held.cls, name)
                if isinstance(function, Function):
                    result = self.call_function(
                        function, Args([callee, *args.pos], args.kw, args.star), site, owner=callee
                    )
                    return self.objects.instance_called(callee, held, args, result, site)
            return self.objects.instance_called(callee, held, args, None, site)
        return self.data.unknown_call(callee, args, site)

    def _call_bound(self, method: Method, args: Args, site: Site) -> Value:
        owner = method.owner
        if method.function is not None:
            if "classmethod" in method.function.decorators:
                held = self.heap.load(owner)
                first: Value = held.cls if isinstance(held, Instance) else owner
                return self.call_function(method.function, Args([first, *args.pos], args.kw, args.star), site)
            inner = Args([owner, *args.pos], args.kw, args.star)
            if self._lacks_arguments(method.function, inner):
                return self.data.pass_through(args)
            return self.call_function(method.function, inner, site, owner=owner)
        held = self.heap.load(owner)
        if isinstance(held, LibObject):
            return self.objects.call_method(owner, held, method.name, args, site)
        if isinstance(held, Instance):
            return self.objects.instance_method(owner, held, method.name, args, site)
        if isinstance(owner, Partial) and owner.function == Lib("builtins.super"):
            return self._call_super(owner.args[0], method.name, args, site)
        return self.methods.call_method(owner, method.name, args, site)

    def _call_super(self, owner: Value, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(owner)
        function = self.frame.function
        if isinstance(held, Instance) and function is not None and function.cls is not None:
            found = self.class_attr(function.cls, name, skip=function.cls)
            if isinstance(found, Function):
                return self.call_function(found, Args([owner, *args.pos], args.kw, args.star), site, owner=owner)
            return self.objects.instance_method(owner, held, name, args, site)
        return NONE

    def call_method(self, owner: Value, name: str, args: Args, site: Site) -> Value | None:
        """Call a method of a project object; None where its class has no such method."""
        held = self.heap.load(owner)
        if isinstance(held, Instance):
            function = self.class_attr(held.cls, name)
            if isinstance(function, Function):
                return self.call_function(function, Args([owner, *args.pos], args.kw, args.star), site, owner=owner)
        return None

    def instantiate(self, cls: Class, args: Args, site: Site) -> Value:
        if cls.kind == "namedtuple" or (
            cls.kind == "dataclass" and not isinstance(self.class_attr(cls, "__init__"), Function)
        ):
            values: dict[str, Value] = {}
            for (name, _), value in zip(cls.fields, args.pos, strict=False):
                values[name] = value
            values.update(args.kw)
            for name, _ in cls.fields:
                if name not in values:
                    values[name] = self.heap.get((cls.frame, name)) or UNKNOWN
            if cls.kind == "namedtuple":
                fields = tuple(name for name, _ in cls.fields)
                return Items(tuple(values[name] for name in fields), fields, cls)
            made = self.heap.new(Instance(cls, values, born=self.loops, site=site))
            self.call_method(made, "__post_init__", Args([], {}), site)
            return made
        made = self.heap.new(Instance(cls, {}, born=self.loops, site=site))
        function = self.class_attr(cls, "__init__")
        if isinstance(function, Function):
            self.call_function(function, Args([made, *args.pos], args.kw, args.star), site, owner=made)
        return made

    def call_function(self, function: Function, args: Args, site: Site, owner: Value | None = None) -> Value:
        """Run a project function with the caller's values."""
        key = function.node if function.node is not None else function
        if function.node is not None:
            self.called.add(id(function.node))
        count = self.calls_of.get(key, 0)
        if (
            len(self.stack) >= _MOST_DEPTH
            or self.stack.count(function) > 1
            or self.work > _MOST_WORK
            or count > (_MOST_CALLS if function.unit.names_library else _MOST_CALLS_OF_PLAIN)
            or self.quiet_work.get(key, 0) > _MOST_WORK_OF_QUIET
        ):
            self._cut(function, site)
            return self._as_given(args, owner)
        self.calls_of[key] = count + 1
        enclosing, self.enclosing = self.enclosing, []
        frame_id = self.heap.frame()
        self.parents[frame_id] = function.frame
        if function.cls is not None and function.frame == function.cls.frame:
            # Names of a class body are not in scope inside its methods.
            self.parents[frame_id] = self.parents.get(function.cls.frame, function.unit.frame)
        saved = self.frame, self.unit, self.cell, self.caller
        self.frame = Frame(frame_id, [], [], [], set(), owner, function)
        self._bind_params(function, args, frame_id)
        self.unit, self.cell = function.unit, function.cell
        self.caller = site
        self.stack.append(function)
        work, events = self.work, len(self.events)
        fits = function.name == "fit" and owner is not None and any(self.heap.data(v).rows for v in args.all()[1:])
        self.fitting += fits
        try:
            status = self.block(function.body)
            exits = self.frame.exits
            if exits:
                kept: list[dict[Any, Any]] = [
                    {k: v for k, v in changes.items() if isinstance(k, int)} for changes in exits
                ]
                self.heap.apply([*kept, *([{}] if status != "raise" else [])])
            returns, yields = self.frame.returns, self.frame.yields
        finally:
            self.stack.pop()
            self.fitting -= fits
            self.enclosing = enclosing
            self.frame, self.unit, self.cell, self.caller = saved
        if len(self.events) == events:
            self.quiet_work[key] = self.quiet_work.get(key, 0) + self.work - work
        if function.is_generator:
            if "contextmanager" in " ".join(function.decorators):
                return self.heap.join_all(yields) or NONE
            return self.heap.new(ListObject(None, self.heap.join_all(yields)))
        if not returns:
            return NONE
        if len(returns) > 1:
            returns = [r for r in returns if r != NONE] or returns
        return self.heap.join_all(returns)  # type: ignore[no-any-return]

    def _as_given(self, args: Args, owner: Value | None) -> Value:
        """What stands for the result of a call that isn't followed: its arguments, one by one where one is None."""
        result = self.data.pass_through(args)
        given = args.pos if owner is None else args.pos[1:]
        if isinstance(result, Data) and NONE in given:
            return result.but(each=tuple(given))
        return result

    def _cut(self, function: Function, site: Site) -> None:
        if self.stack.count(function) > 1:
            return  # recursion is followed twice: more rounds show nothing new
        self.note_unknown(UnknownKind.LIMIT, f"{function.name}()", site)

    def _lacks_arguments(self, function: Function, args: Args) -> bool:
        """Whether the call would fail at run time, so that it is not the one that happens here."""
        if args.star or function.decorators:
            return False
        given = {name for name, _ in function.defaults} | set(args.kw)
        positional = [p for p in function.params if p.kind in ("positional-only", "normal")]
        return any(param.name not in given for param in positional[len(args.pos) :])

    def _bind_params(self, function: Function, args: Args, frame: int) -> None:
        defaults = dict(function.defaults)
        positional = [p for p in function.params if p.kind in ("positional-only", "normal")]
        taken: set[str] = set()
        for param, value in zip(positional, args.pos, strict=False):
            self._set_param(frame, param.name, self._instead(value, defaults.get(param.name)))
            taken.add(param.name)
        names = {p.name for p in function.params}
        for name, value in args.kw.items():
            if name in names:
                self._set_param(frame, name, self._instead(value, defaults.get(name)))
                taken.add(name)
        for param in function.params:
            if param.name in taken:
                continue
            if param.kind == "*":
                self.heap.set((frame, param.name), Items(tuple(args.pos[len(positional) :])))
            elif param.kind == "**":
                extra = {k: v for k, v in args.kw.items() if k not in names}
                self.heap.set((frame, param.name), self.heap.new(DictObject(dict(extra))))
            elif param.name in defaults:
                self.heap.set((frame, param.name), defaults[param.name])
            else:
                self.heap.set((frame, param.name), args.pos[-1] if args.star and args.pos else UNKNOWN)

    def _instead(self, value: Value, default: Value | None) -> Value:
        """An argument of unknown value that is given for a parameter which is None by default: it is something."""
        held = self.heap.load(value)
        if default == NONE and isinstance(held, Data) and not held.rows:
            return held.but(flags=held.flags | {"given"})
        return value

    def _set_param(self, frame: int, name: str, value: Value) -> None:
        # What is passed keeps the caller's name: findings speak of the data as the caller does.
        if isinstance(value, Data) and value.rows:
            value = self.heap.new(value.but(name=value.name or name))
        self.heap.set((frame, name), value)


def _in_place(node: s.Call) -> bool:
    return any(a.keyword == "inplace" and isinstance(a.value, s.Const) and a.value.value is True for a in node.args)


def _of_round(element: Value) -> Value:
    """What a loop meets, marked as another one in each round where it is a number or a name."""
    if isinstance(element, Items):
        return Items(tuple(map(_of_round, element.items)), element.fields, element.cls)
    if isinstance(element, Data) and element.kind == "scalar" and not element.rows:
        return element.but(flags=element.flags | {"of round"})
    return element


def _names(target: s.Expr) -> Iterable[str]:
    if isinstance(target, s.Name):
        yield target.id
    elif isinstance(target, s.Seq):
        for item in target.items:
            yield from _names(item)


def _fold(op: str, values: list[Any]) -> Const | None:
    """A constant made from constants, where that is cheap and safe."""
    try:
        if len(values) == 1 and op == "-" and isinstance(values[0], int | float):
            return Const(-values[0])
        if len(values) == 1 and op == "not":
            return Const(not values[0])
        if len(values) != 2:
            return None
        a, b = values
        if op == "==":
            return Const(a == b)
        if op == "!=":
            return Const(a != b)
        if op == "+" and type(a) is type(b) and isinstance(a, int | float | str) and len(str(a)) < 500:
            return Const(a + b)
        if isinstance(a, int | float) and isinstance(b, int | float):
            if op == "-":
                return Const(a - b)
            if op == "*" and abs(a) < 1e12 and abs(b) < 1e12:
                return Const(a * b)
            if op == "/" and b:
                return Const(a / b)
    except (TypeError, ValueError, OverflowError):
        return None
    return None
