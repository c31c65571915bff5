"""Have folds, ladders and chains done on other machines, by a Dask client: units of a plan, which is a folder."""

import asyncio
import contextlib
import hashlib
import io
import json
import shutil
import tempfile
import threading
import time
import uuid
import zipfile
from concurrent.futures import CancelledError
from pathlib import Path

from . import _posteria
from ._progress import shower
from ._warnings import tell

#: How often a unit whose worker was lost, or that failed, is tried again.
RETRIES = 2
#: How often everything is sent again after all workers that had it, or the scheduler, were lost.
ROUNDS = 5
#: How many seconds another scheduler is waited for.
PATIENCE = 60


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
def done_by(away, make, progress, more=_posteria.next_stage):
    """Have the units of a plan done by the workers of a client; the folder of the plan, or ``None`` without
    a client.

    ``away`` is the client, and a folder that keeps the plan; ``make`` makes the plan in a folder. One that
    is there already is gone on with, if it is of the same work. ``more`` adds the units that can be done
    when others are, and says whether there are any.
    """
    client, plan = away
    if client is None:
        if plan is not None:
            raise _posteria.SpecificationError("plan=… keeps what a client has done; give client=…")
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="posteria-")) / "plan" if plan is None else Path(plan)
    _begin(make, folder)
    try:
        _work(client, folder, progress)
        # What is to be done next may depend on what was found.
        while more(folder):
            _work(client, folder, progress)
    except KeyboardInterrupt:
        tell(f"what is done is kept; go on with plan={str(folder)!r}")
        raise
    yield folder
    if plan is None:
        shutil.rmtree(folder.parent, ignore_errors=True)


def folds_of(natives, asked, utilities):
    """What makes a plan of the folds of these fits, by name, and of what their predictions are worth."""
    return lambda folder: _posteria.plan_folds(natives, asked, utilities, folder, (None, None))


def ladders_of(natives, methods):
    """What makes a plan of the ladders of their evidences."""
    return lambda folder: _posteria.plan_ladders(natives, methods, folder, (None, None))


def run_units(plan, client, *, progress=None):
    """Have the units of a plan that ``posteria plan`` made done by the workers of a client
    (``dask.distributed.Client``), those that are not done yet; ``posteria collect`` then puts together what
    they found, or adds the next stage, of which the same call does the units."""
    folder = Path(plan)
    try:
        _work(client, folder, progress)
    except KeyboardInterrupt:
        tell("what is done is kept; the same call goes on")
        raise


def _begin(make, folder):
    """Make the plan, unless it is there."""
    if not folder.exists():
        make(folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch) / "plan"
        make(again)
        if not _is_of(folder, again):
            raise _posteria.SpecificationError(
                f"{folder} is the plan of other work, or none; name another folder"
            )


def _is_of(there, begun):
    """Whether the plan in a folder began as another one does."""
    if not all((there / name).is_file() for name in ("plan.json", "units.jsonl")):
        return False
    try:
        mine, its = (json.loads((it / "plan.json").read_bytes()) for it in (there, begun))
    except ValueError:
        return False
    # Stages that were added since leave these as they were.
    count = len(its["runs"])
    for plan in (mine, its):
        plan["runs"] = plan.get("runs", [])[:count]
        for key in ("stages", "units", "divisions"):
            plan.pop(key, None)
    units, first = ((it / "units.jsonl").read_bytes() for it in (there, begun))
    return mine == its and units.startswith(first)


def _work(client, folder, progress):
    """Have all units done that are not; results come into the folder as they arrive."""
    units = json.loads(_posteria.plan_units(folder))
    pending = {unit["id"]: unit for unit in units if not unit["done"]}
    if not pending:
        return
    packed = _packed(folder)
    failed = {}
    show = shower(progress)
    try:
        for _ in range(ROUNDS):
            if not pending:
                break
            try:
                _send(client, (folder, packed), (pending, failed, len(units)), show)
            except (OSError, TimeoutError, asyncio.TimeoutError):
                # The scheduler is gone. Another one may come in its place, without what this one knew.
                _wait(client)
    finally:
        if show:
            show(None, 0, 0, None, None)
    failed.update({unit["what"]: "its workers were lost" for unit in pending.values()})
    if failed:
        raise UnitsError(failed, folder, len(units))


def _send(client, of, left, show):
    """Send all pending units, and take those that come back off them."""
    from distributed import as_completed
    from distributed.comm import CommClosedError

    (folder, packed), (pending, failed, total) = of, left
    digest = hashlib.sha256(packed).hexdigest()
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
            except CommClosedError:
                # Not the unit's fault: the scheduler went away while it handed the result over.
                raise
            except Exception as error:
                failed[unit["what"]] = f"{type(error).__name__}: {error}"
            else:
                _posteria.add_result(folder, unit["id"], result)
            del pending[unit["id"]]
            future.release()
            if show:
                show("units", total - len(pending), total, None, None)
    finally:
        with contextlib.suppress(OSError, TimeoutError):
            client.cancel(list(futures))


def _wait(client):
    """Wait until there is a scheduler with a worker, but not for ever."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and client.status != "closed":
        with contextlib.suppress(OSError, TimeoutError, asyncio.TimeoutError):
            if client.status == "running" and client.nthreads():
                return
        time.sleep(0.1)


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
