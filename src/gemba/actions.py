"""Everything that can be changed, as one table: each slice's actions, by method and path.

Mounted by `api`, run without a server by the commands, and by Apply and walks inside their own transactions.
"""

from __future__ import annotations

from gemba.action import Action
from gemba.autodispatch import switching
from gemba.escalations import approvals, assumptions, handing_over, rules, verbs
from gemba.handoff import audit_verdict, contract_view, dispatching, remembering
from gemba.personas import applying, asking, consulting, phases, revoking, taking_back
from gemba.sessions import inputs, releasing, starting
from gemba.settings import store as settings_files
from gemba.sprints import planning
from gemba.teams import beginning, commands, messaging, reviewing
from gemba.walks import agenda as walk_agenda
from gemba.walks import asking as walk_asking
from gemba.walks import deciding as walk_deciding
from gemba.walks import sitting
from gemba.walks import taking_back as walk_taking_back
from gemba.work import claiming, importing, relating, undoing
from gemba.work import store as work

ACTIONS: tuple[Action, ...] = (
    *verbs.ACTIONS,
    *rules.ACTIONS,
    *assumptions.ACTIONS,
    *approvals.ACTIONS,
    *audit_verdict.ACTIONS,
    *contract_view.ACTIONS,
    *dispatching.ACTIONS,
    *handing_over.ACTIONS,
    *remembering.ACTIONS,
    *starting.ACTIONS,
    *inputs.ACTIONS,
    *releasing.ACTIONS,
    *work.ACTIONS,
    *relating.ACTIONS,
    *claiming.ACTIONS,
    *undoing.ACTIONS,
    *planning.ACTIONS,
    *importing.ACTIONS,
    *phases.ACTIONS,
    *consulting.ACTIONS,
    *asking.ACTIONS,
    *applying.ACTIONS,
    *taking_back.ACTIONS,
    *revoking.ACTIONS,
    *switching.ACTIONS,
    *beginning.ACTIONS,
    *commands.ACTIONS,
    *reviewing.ACTIONS,
    *messaging.ACTIONS,
    *sitting.ACTIONS,
    *walk_agenda.ACTIONS,
    *walk_deciding.ACTIONS,
    *walk_taking_back.ACTIONS,
    *settings_files.ACTIONS,
    *walk_asking.ACTIONS,
)
