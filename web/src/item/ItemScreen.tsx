/** One work item by its address: all that is known of it, each field edited in its place, and what hangs on it. */
import { useQuery } from "@tanstack/react-query";
import type { WorkItem } from "../api/types";
import { itemQuery } from "../api/work-queries";
import { linkTo, linkToOne } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { KINDS, PRIORITIES } from "../board/wording";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { formatWhole } from "../ui/time";
import { StandIn, useFocusOfStandIn } from "../ui/StandIn";
import { Words } from "../ui/Words";
import { EditField } from "./EditField";
import { FACTS, TEXTS, textOf, TITLE, type Field } from "./fields";
import { GraphFigure } from "./GraphFigure";
import { History } from "./History";
import { Parts } from "./Parts";
import { Relations } from "./Relations";
import { Standing } from "./Standing";

export function ItemScreen({ id }: { id: string }) {
  const { data: item, isPending, isError, error, refetch } = useQuery(itemQuery(id));
  useEscapeBack("board");
  return (
    <div className="item">
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("board")}>Board</a>
        </p>
        {item ? <Title item={item} /> : <StandIn>{plainText(id)}</StandIn>}
        {item && (
          <p>
            {KINDS[item.kind]} <span className="item-id">{item.id}</span>, made by {plainText(item.created_by)} on{" "}
            {formatWhole(new Date(item.created_at))}
          </p>
        )}
      </header>
      {isPending && <Skeletons count={2} label="Reading the item" />}
      {isError && item === undefined && (
        <ReadError what="The item" home="board" error={error} onRetry={() => void refetch()} />
      )}
      {item && <Whole item={item} />}
    </div>
  );
}

function Title({ item }: { item: WorkItem }) {
  useFocusOfStandIn();
  return (
    <EditField item={item} field={TITLE}>
      <h1 tabIndex={-1} dir="auto">
        {plainText(item.title)}
      </h1>
    </EditField>
  );
}

function Whole({ item }: { item: WorkItem }) {
  return (
    <>
      <Standing item={item} />
      {TEXTS.map((field) => (
        <section key={field.name} className="section" aria-labelledby={`item-${field.name}`}>
          <h2 id={`item-${field.name}`} className="section-title">
            {field.label}
          </h2>
          <EditField item={item} field={field}>
            <p className="words item-text" dir="auto" data-empty={textOf(item, field) === "" || undefined}>
              <Words text={textOf(item, field) || field.none} />
            </p>
          </EditField>
        </section>
      ))}
      <section className="section" aria-labelledby="item-facts">
        <h2 id="item-facts" className="section-title">
          Facts
        </h2>
        <dl className="facts item-facts">
          {FACTS.map((field) => (
            <div key={field.name}>
              <dt>{field.label}</dt>
              <dd>
                <EditField item={item} field={field}>
                  <Fact item={item} field={field} />
                </EditField>
              </dd>
            </div>
          ))}
          {item.ratified !== null && (
            <div>
              <dt>Ratified</dt>
              <dd>
                by {plainText(item.ratified.by)} on {formatWhole(new Date(item.ratified.at))}
              </dd>
            </div>
          )}
          {item.closed_at !== null && (
            <div>
              <dt>Closed</dt>
              <dd>
                by {plainText(item.closed_by ?? "")} on {formatWhole(new Date(item.closed_at))}
              </dd>
            </div>
          )}
        </dl>
      </section>
      <Parts item={item} />
      <Relations item={item} />
      <GraphFigure item={item} />
      <History item={item} />
    </>
  );
}

function Fact({ item, field }: { item: WorkItem; field: Field }) {
  const text = textOf(item, field);
  if (text === "") return <span className="fact-none">{field.none}</span>;
  if (field.name === "parent") return <a {...linkToOne("item", text)}>{parentOf(item)}</a>;
  if (field.name === "kind") return <span>{KINDS[item.kind]}</span>;
  if (field.name === "priority") return <span>{PRIORITIES[item.priority]}</span>;
  if (field.shape === "number") return <span>{Number(text).toLocaleString()}</span>;
  return (
    <span className="fact" dir="auto">
      {plainText(text)}
    </span>
  );
}

/** Its title stands with the relation. */
function parentOf({ id, parent, relations }: WorkItem): string {
  const above = relations.find(({ kind, target }) => kind === "parent-child" && target === id);
  return above === undefined ? (parent ?? "") : plainText(above.title);
}
