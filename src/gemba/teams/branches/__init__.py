"""The git side of team runs: a run's branch, a task's work saved as a commit, merged with a check of its own, and
brought home. Each verb blocks, may be killed at any line, and is called again; the next call finds what there is.
"""

from gemba.teams.branches.changes import ChangedFile, WorkspaceStatus, changed_files, workspace_status, written_since
from gemba.teams.branches.homecoming import bring_home
from gemba.teams.branches.letting_go import clear_artifacts, let_go, prepare_artifacts
from gemba.teams.branches.merging import Conflicts, Merged, merge
from gemba.teams.branches.run_branch import Opened, open_branch
from gemba.teams.branches.saving import Saved, save_work
from gemba.teams.branches.worktree_files import LeftOut

__all__ = [
    "ChangedFile",
    "Conflicts",
    "LeftOut",
    "Merged",
    "Opened",
    "Saved",
    "WorkspaceStatus",
    "bring_home",
    "changed_files",
    "clear_artifacts",
    "let_go",
    "merge",
    "open_branch",
    "prepare_artifacts",
    "save_work",
    "workspace_status",
    "written_since",
]
