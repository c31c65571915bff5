"""Fit folds on other machines, by a Dask client: units of a plan, which is a folder."""

import contextlib
import hashlib
import io
import json
import shutil
import tempfile
import threading
import uuid
import zipfile
from concurrent.futures import CancelledError
from pathlib import Path

from . import _posteria
from ._progress import shower
from ._warnings import tell

#: How often a unit whose worker was lost, or that failed, is tried again.
RETRIES = 2
#: How often everything is sent again after all workers that had it were lost.
ROUNDS = 5


class UnitsError(_posteria.PosteriaError):
    """Some units failed; what the others found is kept.

    ``failed`` says why, by what the unit was; ``plan`` is the folder of the plan: the same call with
    ``plan=…`` goes on from there.
    """

    def __init__(self, failed, plan, total):
        self.failed, self.plan = failed, plan
        first = "; ".join(f"{what}: {why}" for what, why in list(failed.items())[:3])
        more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
        super().__init__(
            f"{len(failed)} of {total} units failed: {first}{more}. The others are kept: go on with "
            f"plan={str(plan)!r}"
        )


@contextlib.contextmanager
def fitted_by(away, natives, asked, progress):
    """Have the folds of these fits, by name, fitted by the workers of a client; the folder of their plan,
    or ``None`` without a client.

    ``away`` is the client, and a folder that keeps the plan; one that is there already is gone on with,
    if it is of the same fits and folds.
    """
    client, plan = away
    if client is None:
        if plan is not None:
            raise _posteria.SpecificationError("plan=… keeps what a client has done; give client=…")
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="posteria-")) / "plan" if plan is None else Path(plan)
    _begin(natives, asked, folder)
    try:
        _work(client, folder, progress)
    except KeyboardInterrupt:
        tell(f"what is done is kept; go on with plan={str(folder)!r}")
        raise
    yield folder
    if plan is None:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _begin(natives, asked, folder):
    """Make the plan, unless it is there."""
    working = (None, None)
    if not folder.exists():
        _posteria.plan_folds(natives, asked, folder, working)
        return
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch) / "plan"
        _posteria.plan_folds(natives, asked, again, working)
        for name in ("plan.json", "units.jsonl"):
            there = folder / name
            if not there.is_file() or there.read_bytes() != (again / name).read_bytes():
                raise _posteria.SpecificationError(
                    f"{folder} is the plan of other work, or none; name another folder"
                )


def _work(client, folder, progress):
    """Have all units done that are not; results come into the folder as they arrive."""
    from distributed import as_completed

    units = json.loads(_posteria.plan_units(folder))
    pending = {unit["id"]: unit for unit in units if not unit["done"]}
    if not pending:
        return
    show = shower(progress)
    packed = _packed(folder)
    digest = hashlib.sha256(packed).hexdigest()
    failed = {}
    for _ in range(ROUNDS):
        if not pending:
            break
        # Once to every worker: units are many, and what they are of is the same.
        data = client.scatter(packed, broadcast=True)
        run = uuid.uuid4().hex[:8]
        # Long ones first, so that none is left over in the end.
        order = sorted(pending.values(), key=lambda unit: (-unit["cost"], unit["id"]))
        futures = {
            client.submit(
                do,
                data,
                digest,
                unit["id"],
                key=f"posteria-{digest[:8]}-{unit['id']}-{run}",
                priority=-rank,
                retries=RETRIES,
                pure=False,
            ): unit
            for rank, unit in enumerate(order)
        }
        try:
            for future in as_completed(futures, loop=client.loop):
                unit = futures[future]
                if future.cancelled():
                    # The workers that had the data are gone, or the scheduler is a new one.
                    continue
                try:
                    result = future.result()
                except CancelledError:
                    continue
                except Exception as error:
                    failed[unit["what"]] = f"{type(error).__name__}: {error}"
                else:
                    _posteria.add_result(folder, unit["id"], result)
                del pending[unit["id"]]
                future.release()
                if show:
                    show("units", len(units) - len(pending), len(units), None, None)
        finally:
            client.cancel(list(futures))
            if show:
                show(None, 0, 0, None, None)
    failed.update({unit["what"]: "its workers were lost" for unit in pending.values()})
    if failed:
        raise UnitsError(failed, folder, len(units))


def _packed(folder):
    """What a worker needs of a plan, in one piece."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as files:
        for file in sorted(folder.rglob("*")):
            name = file.relative_to(folder)
            if file.is_file() and name.parts[0] not in ("results", "work"):
                # The same bytes for the same plan, whenever it was written.
                files.writestr(zipfile.ZipInfo(name.as_posix()), file.read_bytes())
    return buffer.getvalue()


#: Plans that this worker has, by their digests.
_plans = {}
_lock = threading.Lock()


def do(packed, digest, unit):
    """Do one unit on a worker; its result."""
    with _lock:
        folder = _plans.get(digest)
        if folder is None:
            folder = tempfile.TemporaryDirectory(prefix="posteria-")
            with zipfile.ZipFile(io.BytesIO(packed)) as files:
                files.extractall(folder.name)
            for name in ("results", "work"):
                (Path(folder.name) / name).mkdir()
            _plans[digest] = folder
    path = Path(folder.name)
    result = bytes(_posteria.run_unit(path, unit))
    # It is on its way: nobody looks for it here any more.
    (path / "results" / f"{unit:06}.unit").unlink(missing_ok=True)
    return result
