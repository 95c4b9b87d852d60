"""No module needs itself by a detour; imports for types alone, and inside functions, count.

The contracts in pyproject.toml compare neighbours; this sees packages' own ``__init__`` as well.
"""

from graphlib import TopologicalSorter

import grimp


def test_no_circles():
    graph = grimp.build_graph("franq_guard", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # CycleError names the circle
