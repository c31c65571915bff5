"""Stubs say what is there: the same names, parameters, defaults and keys."""

import ast
import inspect
from pathlib import Path

import pytest

import posteria as pt
from posteria import _fit, _posteria

FOLDER = Path(__file__).parents[1] / "posteria"
MODULES = {"__init__.pyi": pt, "_posteria.pyi": _posteria}
KEYED = ("Linear", "MLP", "GP", "Mixture", "PCA", "Model", "Prior")


def statements(stub):
    return ast.parse((FOLDER / stub).read_text(encoding="utf-8")).body


def classes(stub):
    """Public classes."""
    return {name: it for name, it in all_classes(stub).items() if not name.startswith("_")}


def all_classes(stub):
    return {it.name: it for it in statements(stub) if isinstance(it, ast.ClassDef)}


def functions(body):
    return {it.name: it for it in body if isinstance(it, ast.FunctionDef)}


def defined(stub):
    """Public names of a stub: classes, functions, imports under the same name, and annotated values."""
    for it in statements(stub):
        if isinstance(it, (ast.ClassDef, ast.FunctionDef)):
            yield from () if it.name.startswith("_") else (it.name,)
        elif isinstance(it, ast.ImportFrom):
            yield from (alias.name for alias in it.names if alias.asname == alias.name)
        elif isinstance(it, ast.AnnAssign) and it.target.id not in private(stub):
            yield it.target.id


def private(stub):
    """Names that are for the stub itself."""
    named = [it.target.id for it in statements(stub) if isinstance(it, ast.AnnAssign)]
    return {name for name in named if name.startswith("_") and not name.startswith("__")}


def listed(stub):
    for it in statements(stub):
        if isinstance(it, ast.Assign) and it.targets[0].id == "__all__":
            return ast.literal_eval(it.value)
    return None


def all_functions(stub):
    """Of functions and methods: a name, what there is at run time, and the stub."""
    module = MODULES[stub]
    for name, stated in functions(statements(stub)).items():
        yield pytest.param(getattr(module, name, None), stated, id=f"{stub}-{name}")
    for owner, stated in classes(stub).items():
        for name, method in functions(stated.body).items():
            if owner in KEYED and name == "__init__":
                continue
            found = inspect.getattr_static(getattr(module, owner), name, None)
            yield pytest.param(found, method, id=f"{stub}-{owner}.{name}")


def test_public_names_are_those_of_the_package():
    assert listed("__init__.pyi") == pt.__all__
    assert sorted(defined("__init__.pyi")) == sorted(pt.__all__)


def test_names_of_the_compiled_part_are_all_there():
    public = {name for name in dir(_posteria) if not name.startswith("__")}
    assert set(defined("_posteria.pyi")) == public | {"__version__"}


@pytest.mark.parametrize("stub", MODULES)
def test_public_methods_are_all_there(stub):
    for owner, stated in classes(stub).items():
        public = {name for name in vars(getattr(MODULES[stub], owner)) if not name.startswith("_")}
        body = set(functions(stated.body))
        body |= {it.target.id for it in stated.body if isinstance(it, ast.AnnAssign)}
        inherited = {"kind"} if owner in KEYED else set()
        assert {name for name in body if not name.startswith("_")} >= public - inherited, owner


@pytest.mark.parametrize(
    ("found", "stated"), [*all_functions("__init__.pyi"), *all_functions("_posteria.pyi")]
)
def test_functions_have_the_same_parameters(found, stated):
    assert found is not None, f"{stated.name} is not there"
    decorators = {it.id for it in stated.decorator_list if isinstance(it, ast.Name)}
    if "property" in decorators:
        assert inspect.isdatadescriptor(found)
        return
    signature = inspect.signature(getattr(found, "__func__", found)).parameters.values()
    positional = [it.name for it in signature if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    keywords = [it.name for it in signature if it.kind == it.KEYWORD_ONLY]
    rest = [it.name for it in signature if it.kind == it.VAR_KEYWORD]
    arguments = stated.args
    assert [it.arg for it in (*arguments.posonlyargs, *arguments.args)] == positional
    assert [it.arg for it in arguments.kwonlyargs] == keywords
    assert ([arguments.kwarg.arg] if arguments.kwarg else []) == rest
    defaults = {it.name: it.default for it in signature if it.default is not it.empty}
    assert stated_defaults(arguments) == defaults


def stated_defaults(arguments):
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    found = {it.arg: ast.literal_eval(value) for it, value in zip(with_default, arguments.defaults)}
    for it, value in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if value is not None:
            found[it.arg] = ast.literal_eval(value)
    return found


@pytest.mark.parametrize("name", ["Model", "Prior"])
def test_keywords_are_the_keys_of_the_library(name):
    """Those of the models are inherited, there and at run time."""
    arguments = functions(classes("__init__.pyi")[name].body)["__init__"].args
    assert [it.arg for it in arguments.args] == ["self"]
    assert [it.arg for it in arguments.kwonlyargs] == list(getattr(pt, name)._allowed())
    assert all(isinstance(it, ast.Constant) and it.value is None for it in arguments.kw_defaults)


def test_options_are_those_of_a_fit():
    keys = {}
    for name in ("_SelectOptions", "_CompareOptions", "_Options"):
        body = all_classes("__init__.pyi")[name].body
        keys[name] = {it.target.id for it in body if isinstance(it, ast.AnnAssign)}
    options = {*_fit.DATA, *_fit.SAMPLING}
    asked = keys["_SelectOptions"] | keys["_CompareOptions"]
    assert asked | keys["_Options"] == options
    assert asked == options - set(inspect.signature(pt.compare).parameters)
    assert keys["_SelectOptions"] == options - set(inspect.signature(pt.select).parameters)


def test_bases_are_those_at_run_time():
    for stub, module in MODULES.items():
        for name, stated in classes(stub).items():
            for base in stated.bases:
                base = base.value if isinstance(base, ast.Subscript) else base
                assert base.id in {it.__name__ for it in getattr(module, name).__mro__}, name
