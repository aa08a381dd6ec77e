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
export type Check = Schemas["Check"];
export type Answer = Schemas["Respond"];
export type Answered = Schemas["Answered"];
export type Refusal = Schemas["Refusal"];
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
export type Snooze = Schemas["Snooze"];
export type Problem = Schemas["Problem"];
export type ServerEvent = Schemas["Event"];
export type Delivery = Schemas["Delivery"];
