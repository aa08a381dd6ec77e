/** Short names for the server's own types. Everything here is an alias of the generated schema; nothing is declared twice. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Escalation = Schemas["Escalation"];
export type EscalationList = Schemas["EscalationList"];
export type Resolution = Schemas["Resolution"];
export type Assumption = Schemas["Assumption"];
export type AssumptionList = Schemas["AssumptionList"];
export type Session = Schemas["SessionView"];
export type SessionList = Schemas["SessionList"];
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
export type Snooze = Schemas["Snooze"];
export type Problem = Schemas["Problem"];
export type ServerEvent = Schemas["Event"];
export type Delivery = Schemas["Delivery"];
