/** What an item is to others, each a sentence that can be taken away, and a form for one more. */
import { useState, type FormEvent } from "react";
import type { ItemRelation, NewRelation, RelationKind, WorkItem } from "../api/types";
import { relateItem, unrelateItem } from "../api/work-deeds";
import { linkToOne } from "../app/routes";
import { STATES } from "../board/wording";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { ItemPicker } from "./ItemPicker";
import { NotDone } from "./NotDone";
import { useItemDeed } from "./useItemDeed";

/** As one says it of this item: the words when it is the source, and when it is the target. */
const SAYINGS: Record<RelationKind, [source: string, target: string]> = {
  blocks: ["Blocks", "Is blocked by"],
  "parent-child": ["Has the part", "Is part of"],
  "relates-to": ["Has to do with", "Has to do with"],
  duplicates: ["Is a duplicate of", "Has the duplicate"],
  supersedes: ["Takes the place of", "Is replaced by"],
  "discovered-from": ["Was found while doing", "Led to"],
};
const KINDS = Object.keys(SAYINGS) as RelationKind[];
/** What can be said in the form; `relates-to` reads the same both ways. */
const CHOICES = KINDS.flatMap((kind): [value: string, words: string][] => {
  const [source, target] = SAYINGS[kind];
  return source === target ? [[`${kind} >`, source]] : [[`${kind} <`, target], [`${kind} >`, source]];
});

const saidOf = (id: string, { kind, source }: ItemRelation) => SAYINGS[kind as RelationKind][source === id ? 0 : 1];
const otherOf = (id: string, { source, target }: ItemRelation) => (source === id ? target : source);

export function Relations({ item }: { item: WorkItem }) {
  const { act, isBusy, error, putAway } = useItemDeed(item.id);
  // Its parts have a place of their own.
  const shown = item.relations.filter(({ kind, source }) => !(kind === "parent-child" && source === item.id));

  function remove(relation: ItemRelation): void {
    const other = otherOf(item.id, relation);
    const body: NewRelation = {
      kind: relation.kind as RelationKind,
      ...(relation.source === item.id ? { target: other } : { source: other }),
    };
    act({
      run: (confirmId) => unrelateItem(item.id, body, confirmId),
      said: () => `No longer: ${saidOf(item.id, relation).toLowerCase()} ${other}`,
      then: () => document.querySelector<HTMLElement>("#item-relations")?.focus(),
    });
  }

  return (
    <section className="section" aria-labelledby="item-relations">
      <h2 id="item-relations" className="section-title" tabIndex={-1}>
        Relations
      </h2>
      {shown.length === 0 && <p className="card-hint">It stands alone.</p>}
      <ul className="relations">
        {shown.map((relation) => {
          const other = otherOf(item.id, relation);
          return (
            <li key={`${relation.source} ${relation.kind} ${relation.target}`}>
              <span className="relation-said">{saidOf(item.id, relation)}</span>
              <span className="relation-other" dir="auto" data-over={isOver(relation) || undefined}>
                <a {...linkToOne("item", other)}>{plainText(relation.title)}</a>{" "}
                <span className="item-id">
                  {other} · {STATES[relation.state].toLowerCase()}
                </span>
              </span>
              <button
                type="button"
                className="tool"
                aria-label={`Take away: ${saidOf(item.id, relation).toLowerCase()} ${other}`}
                disabled={isBusy}
                onClick={() => remove(relation)}
              >
                <Icon name="close" />
              </button>
            </li>
          );
        })}
      </ul>
      <AddRelation
        isBusy={isBusy}
        onAdd={(body, then) => {
          putAway();
          act({ run: (confirmId) => relateItem(item.id, body, confirmId), said: () => "The relation is made", then });
        }}
      />
      <NotDone error={error} />
    </section>
  );
}

const isOver = ({ state }: ItemRelation) => state === "done" || state === "cancelled";

function AddRelation({ isBusy, onAdd }: { isBusy: boolean; onAdd: (body: NewRelation, then: () => void) => void }) {
  const [how, setHow] = useState(CHOICES[0]![0]);
  const [other, setOther] = useState("");

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    const [kind, side] = how.split(" ") as [RelationKind, "<" | ">"];
    const id = other.trim();
    if (id === "" || isBusy) return;
    onAdd({ kind, ...(side === ">" ? { target: id } : { source: id }) }, () => setOther(""));
  }

  return (
    <form className="add-relation" aria-label="New relation" onSubmit={onSubmit}>
      <select className="line-input" aria-label="What it is to the other" value={how} onChange={(event) => setHow(event.target.value)}>
        {CHOICES.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <ItemPicker label="The other item" value={other} onValue={setOther} />
      <button type="submit" className="button" disabled={other.trim() === "" || isBusy}>
        Add
      </button>
    </form>
  );
}
