/** Short names for the server's own types. Everything here is an alias of the generated schema; nothing is declared twice. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Escalation = Schemas["Escalation"];
export type EscalationList = Schemas["EscalationList"];
export type Resolution = Schemas["Resolution"];
export type Approval = Schemas["Approval"];
export type Assumption = Schemas["Assumption"];
export type AssumptionList = Schemas["AssumptionList"];
export type Session = Schemas["SessionView"];
export type SessionList = Schemas["SessionList"];
export type SessionInput = Schemas["SessionInput"];
export type NewSession = Schemas["NewSession"];
export type AgentType = Schemas["AgentType"];
export type Worktree = Schemas["WorktreeView"];
export type Usage = Schemas["Usage"];
export type Doctor = Schemas["Diagnosis"];
export type Check = Doctor["checks"][number];
export type Answer = Schemas["Respond"];
export type Answered = Schemas["Answered"];
export type Refusal = Answered["refused"][number];
export type Reroute = Schemas["Reroute"];
export type Stale = Schemas["Stale"];
export type Precedent = Schemas["Precedent"];
export type Proposal = Schemas["Proposal"];
export type Rule = Schemas["Rule"];
export type Memory = Schemas["MemoryView"];
export type MemoryState = Schemas["MemoryState"];
export type MemoryList = Schemas["MemoryList"];
export type AcceptMemory = Schemas["AcceptMemory"];
export type ContextSection = Schemas["ContextSection"];
export type ContextRevision = Schemas["ContextRevision"];
export type ContextChange = Schemas["ContextChange"];
export type ContextWarning = Schemas["ContextWarning"];
export type Attention = Schemas["Attention"];
export type AttentionRow = Schemas["AttentionRow"];
export type AttentionTotal = Schemas["AttentionTotal"];
export type PolicyList = Schemas["PolicyList"];
export type Policy = Schemas["PolicyView"];
export type NotifyChannel = Schemas["ChannelView"];
export type Handoff = Schemas["Handoff"];
export type HandoffList = Schemas["HandoffList"];
export type WorldCheck = Handoff["checks"][number];
export type VerdictFinding = Handoff["verdict"]["findings"][number];
export type PlanStatus = Schemas["PlanStatus"];
export type Dispatch = Schemas["Dispatch"];
export type DispatchList = Schemas["DispatchList"];
export type Sprint = Schemas["Sprint"];
export type SprintDetail = Schemas["SprintDetail"];
export type SprintItem = Schemas["SprintItem"];
export type BurnDown = Schemas["BurnDown"];
export type BurnDay = Schemas["BurnDay"];
export type NewSprint = Schemas["NewSprint"];
export type ChangeSprint = Schemas["ChangeSprint"];
export type DispatchHold = Schemas["DispatchHold"];
export type UsageRow = Schemas["UsageRow"];
export type InsightDay = Schemas["InsightDay"];
export type Insights = Schemas["Insights"];
export type CostShares = Schemas["CostShares"];
export type TrackRecord = Schemas["TrackRecord"];
export type TeamRun = Schemas["gemba.teams.run.RunView"];
export type TeamSummary = Schemas["RunSummary"];
export type TeamState = Schemas["RunState"];
export type TeamTask = Schemas["TaskView"];
export type TeamTaskState = Schemas["TaskState"];
export type TeamTaskDetail = Schemas["TaskDetail"];
export type TeamAttempt = Schemas["Attempt"];
export type TeamMessage = Schemas["MessageView"];
/** What has a default is left out of no answer. */
export type TaskTransfers = Required<Schemas["TaskTransfers"]>;
export type TeamKnowledge = Omit<Schemas["WhoKnowsWhat"], "tasks"> & { tasks: TaskTransfers[] };
export type NewTeam = Schemas["NewTeam"];
export type Floor = Schemas["Floor"];
export type FloorWaiting = Schemas["FloorWaiting"];
export type Snooze = Schemas["Snooze"];
export type Problem = Schemas["Problem"];
export type ServerEvent = Schemas["Event"];
export type Delivery = Schemas["Delivery"];
export type Consult = Schemas["ConsultDetail"];
export type ConsultSummary = Schemas["ConsultSummary"];
export type ConsultStatus = Schemas["ConsultStatus"];
export type NewConsult = Schemas["NewConsult"];
export type LineApplied = Schemas["LineApplied"];
export type LineTakenBack = Schemas["LineTakenBack"];
export type AppliedLine = Schemas["AppliedLine"];
export type LineError = Schemas["LineError"];
export type OrderLine =
  | Schemas["OrderStrategy"]
  | Schemas["OrderRecommendation"]
  | Schemas["OrderWarning"]
  | Schemas["OrderDeferred"]
  | Schemas["OrderSummary"];
export type AdviceLine =
  | Schemas["AdviceStrategy"]
  | Schemas["AdviceFinding"]
  | Schemas["AdviceProposal"]
  | Schemas["AdviceSummary"];
export type PlanLine =
  | Schemas["PlanStrategy"]
  | Schemas["PlanRoleLine"]
  | Schemas["PlanTaskLine"]
  | Schemas["PlanSummary"];
export type ConsultLine = OrderLine | AdviceLine | PlanLine;
export type SuggestedAction = Schemas["SuggestedAction"];
export type PromptLayer = Schemas["Layer"];
export type EpicOrderInput = Schemas["EpicOrderInput"];
export type CandidateEpic = Schemas["CandidateEpic"];
export type Persona = Schemas["PersonaRow"];
export type PersonaList = Schemas["PersonaList"];
export type PersonaFigures = Schemas["PersonaFigures"];
export type PurviewView = Schemas["PurviewView"];
export type Hold = Schemas["Hold"];
export type Phase = Schemas["Phase"];
export type ProjectPhase = Schemas["ProjectPhase"];
export type Selection = Schemas["Selection"];
export type SessionRanking = Schemas["SessionRanking"];
export type SelectionChoice = Schemas["Choice"];
export type RuledOut = Schemas["RuledOut"];
export type Batch = Schemas["Batch"];
export type NamedItem = Schemas["Named"];
export type WorkItem = Schemas["WorkItem"];
export type WorkRow = Schemas["WorkRow"];
export type WorkCard = Schemas["WorkCard"];
export type WorkColumn = Schemas["WorkColumn"];
export type WorkBoard = Schemas["WorkBoard"];
export type WorkState = WorkCard["state"];
export type WorkKind = WorkCard["kind"];
export type NewWorkItem = Schemas["NewItem"];
export type ChangeItem = Schemas["ChangeItem"];
export type NewRelation = Schemas["NewRelation"];
export type ItemRelation = Schemas["RelationView"];
export type RelationKind = NewRelation["kind"];
export type Offer = NonNullable<WorkItem["offers"]>[number];
/** The fields of a change may hold anything. */
export type ItemChange = Omit<Schemas["Change"], "before" | "after"> & {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
};
export type ItemGraph = Schemas["Graph"];
export type GraphNode = ItemGraph["nodes"][number];
export type Settings = Schemas["SettingsView"];
export type SettingsFile = Schemas["SettingsFileView"];
export type SettingsFinding = Schemas["SettingsFinding"];
export type SettingsText = Schemas["SettingsText"];
export type CheckedSettings = Schemas["CheckedSettings"];
export type Setting = Schemas["Setting"];
export type Found = Schemas["Found"];
export type Explanation = Schemas["Explanation"];
export type Walk = Schemas["WalkDetail"];
export type WalkSummary = Schemas["WalkSummary"];
export type WalkList = Schemas["WalkList"];
export type WalkHint = Schemas["WalkHint"];
export type AgendaItem = Schemas["AgendaItem"];
export type WalkSource = AgendaItem["source"];
export type WalkAction = NonNullable<AgendaItem["framing"]>["actions"][number];
export type WalkDecision = NonNullable<AgendaItem["decision"]>;
export type Said = Walk["transcript"][number];
export type WalkTotals = Walk["totals"];
export type Decide = Schemas["Decide"];
export type Decided = Schemas["Decided"];
export type Perspective = Schemas["PerspectiveList"]["perspectives"][number];
export type PerspectivesAsked = Schemas["PerspectivesAsked"];
