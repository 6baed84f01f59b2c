# arrows.py ROOT: every include line of .h, .cpp and .cu files goes along an arrow of ARCHITECTURE.md, and the headers of
# LibTorch, SQLite, CUPTI, Qt and Qt Charts stay in the rooms that own them. Run by CTest.
import re
import sys

import repository

_WORDS = {"core/base", "core/trace", "core/events", "core/analysis"}
_ENGINE = _WORDS | {"core/data", "core/memory", "core/model", "core/kernels", "core/profile", "core/cuda", "core/step"}

# What a room may include besides itself. A room that is not named here is a violation: new rooms get their arrows first.
ALLOWED = {
    "core/base": set(),
    "core/trace": {"core/base"},
    "core/events": {"core/base", "core/trace"},
    "core/analysis": {"core/base", "core/trace", "core/events"},
    "core/prediction": {"core/base", "core/events"},
    "core/experiment": _WORDS,
    "core/advice": _WORDS | {"core/prediction"},
    "core/report": _WORDS,
    "core/data": {"core/base", "core/events"},
    "core/memory": {"core/base", "core/events"},
    "core/model": {"core/base", "core/events"},
    "core/kernels": {"core/base", "core/events"},
    "core/step": {"core/base", "core/kernels"},
    "core/fused": {"core/base", "core/events", "core/kernels", "core/model", "core/cuda"},
    "core/inference": {"core/base", "core/events", "core/kernels", "core/model", "core/step"},
    "core/cuda": {"core/base", "core/events", "core/kernels"},
    "core/profile": {"core/base", "core/trace", "core/events", "core/memory", "core/cuda"},
    "core/workers": {"core/base"},
    "core/state": {"core/base", "core/events", "core/data", "core/kernels", "core/model", "core/cuda"},
    "core/program": _ENGINE | {"core/workers", "core/state"},
    "core/train": _ENGINE | {"core/analysis", "core/experiment", "core/inference", "core/state", "core/program"},
    "core/optimizations": _ENGINE | {"core/fused", "core/state", "core/program"},
    "sessions": _WORDS,
    "widgets": _WORDS | {"core/advice"},
    "app/workbench": _ENGINE | {"core/workers", "core/experiment", "core/prediction", "core/advice", "core/report", "core/inference", "core/state", "core/program", "core/train", "core/optimizations", "sessions"},
    "app/cli": _WORDS | {"core/advice", "core/report", "app/workbench", "sessions"},
    "app/gui": _WORDS | {"core/advice", "core/report", "app/workbench", "widgets"},
}
# Single headers beyond the rooms above.
ALLOWED_HEADERS = {
    "app/cli": {"core/workers/WorkerPlace.h"},
    "app/gui": {"sessions/SessionStore.h", "sessions/Replayer.h", "sessions/findings/MeasuredFlips.h", "sessions/findings/MeasuredTurns.h", "sessions/findings/Experiments.h", "sessions/findings/OverlaidReader.h", "sessions/Slices.h", "sessions/SessionTrace.h", "sessions/DeviceShapes.h", "sessions/Samples.h",
                "sessions/exporters/ExportFile.h", "sessions/exporters/ExportSession.h", "sessions/query/SessionQuery.h", "sessions/Captures.h", "sessions/importers/Import.h"},
}

_TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
_SQLITE = re.compile(r"^(sqlite3\.h|SQLiteCpp/)")
_CUPTI = re.compile(r"^cupti")
_QT = re.compile(r"^(Q[A-Z][A-Za-z0-9]*|Qt[A-Z][A-Za-z0-9]*/.*|q[a-z]+\.h)$")
_CHARTS = re.compile(r"^(QtCharts|QChart|QAbstractSeries|QAbstractAxis|Q(Line|Area|Scatter|XY|Spline|Bar|Pie)Series|QValueAxis|QLogValueAxis|QLegend)")
_TORCH_ROOMS = {"core/memory", "core/workers", "core/model", "core/fused", "core/inference", "core/profile", "core/state", "core/program", "core/train", "core/optimizations", "app/workbench"}


def _foreign(path, room, name):
    """Why this room may not include this header of somebody else's; None when it may."""
    # The library that captures is apart from the kernels because it needs LibTorch's CUDA half.
    if _TORCH.match(name) and room not in _TORCH_ROOMS and not path.startswith("core/cuda/graphs/"):
        return f"{room} does not see LibTorch"
    if name == "torch/torch.h":
        return "torch/torch.h makes a file slow to compile: include narrow ATen headers"
    if _SQLITE.match(name) and room != "sessions":
        return "only sessions sees SQLite"
    if _CUPTI.match(name) and room != "core/cuda":
        return "only core/cuda sees CUPTI"
    if _QT.match(name) and room not in ("widgets", "app/gui"):
        return f"{room} does not see Qt"
    if _CHARTS.match(name) and not path.startswith("widgets/charts/"):
        return "Qt Charts is seen in widgets/charts only"
    return None


def violations(root):
    found = []
    for path in repository.files(root):
        top = path.split("/")[0]
        if top not in ("core", "sessions", "widgets", "app") or not path.endswith(repository.SOURCES):
            continue
        room = repository.room(path)
        if room == "core":  # the precompiled header of the torch rooms
            continue
        if room not in ALLOWED:
            found.append(f"{path}: the room {room} has no arrows in tests/architecture/arrows.py")
            continue
        for line, name, target in repository.includes(root, path):
            other = repository.room(target) if target else None
            if other and other != room and other not in ALLOWED[room] and target not in ALLOWED_HEADERS.get(room, ()):
                found.append(f"{path}:{line}: {room} may not include {target}")
            why = _foreign(path, room, name)
            if why:
                found.append(f"{path}:{line}: includes {name}: {why}")
            if path.endswith((".cu", ".cuh")) and (_TORCH.match(name) or (other in _TORCH_ROOMS)):
                found.append(f"{path}:{line}: a .cu file takes raw pointers and a stream, not {name}")
    return found


if __name__ == "__main__":
    sys.exit(repository.report("arrows", violations(sys.argv[1])))
