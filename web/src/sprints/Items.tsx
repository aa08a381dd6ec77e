/** What is in a sprint, each with how far it is; items are put in by searching, and taken out, until it is closed. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState } from "react";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { queryClient } from "../api/queries";
import { addToSprint, itemsLikeQuery, removeFromSprint, sprintQuery } from "../api/sprint-queries";
import type { SprintDetail, SprintItem } from "../api/types";
import { linkToOne } from "../app/routes";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { fewTokens } from "./wording";

type Change = { verb: typeof addToSprint; item: string; words: string };

export function Items({ sprint }: { sprint: SprintDetail }) {
  const open = sprint.state !== "closed";
  const change = useMutation({
    mutationFn: ({ verb, item, confirmId }: Change & { confirmId: string }) => verb(sprint.id, item, confirmId),
    onSuccess: (changed, { words }) => {
      queryClient.setQueryData(sprintQuery(sprint.id).queryKey, changed);
      announce(words);
    },
    onError: (problem) => announce(`Not changed. ${explain(problem)}`),
  });
  const put = (verb: typeof addToSprint, item: string, words: string) =>
    change.mutate({ verb, item, words, confirmId: newConfirmId() });
  return (
    <section className="section" aria-labelledby="section-sprint-items">
      <h2 id="section-sprint-items" className="section-title">
        Items
        <span className="section-hint">
          {sprint.item_count === 0 ? "none yet" : `${sprint.finished_count} of ${sprint.item_count} finished`}
        </span>
      </h2>
      {open && <AddItem known={sprint.items} onAdd={(id) => put(addToSprint, id, `Put ${plainText(id)} in`)} />}
      {change.isError && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(explain(change.error))}</span>
        </p>
      )}
      {sprint.items.length > 0 && (
        <ul className="panel sprint-items">
          {sprint.items.map((item) => (
            <li key={item.id}>
              <Progress item={item} />
              {open && (
                <button
                  type="button"
                  className="tool"
                  aria-label={`Take ${plainText(item.id)} out`}
                  title="Take it out of the sprint"
                  onClick={() => put(removeFromSprint, item.id, `Took ${plainText(item.id)} out`)}
                >
                  <Icon name="close" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Progress({ item }: { item: SprintItem }) {
  const { parts, parts_finished: done } = item;
  const facts = [
    item.state.replace("_", " "),
    item.kind,
    parts > 1 && `${done} of ${parts} parts finished`,
    item.ready && "ready",
    item.claimed_by !== null && `with ${plainText(item.claimed_by)}`,
    item.tokens > 0 && `${fewTokens(item.tokens)} tokens`,
    item.estimated_tokens !== null && `estimated at ${fewTokens(item.estimated_tokens)}`,
  ].filter((fact) => typeof fact === "string");
  return (
    <div className="sprint-item">
      <p className="sprint-item-title" dir="auto">
        <a {...linkToOne("item", item.id)}>{firstLine(item.title, 160)}</a>
      </p>
      <p className="card-hint">
        <code>{plainText(item.id)}</code> {facts.join(" · ")}
      </p>
      <progress max={Math.max(1, parts)} value={done} aria-label={`${plainText(item.id)}: ${done} of ${parts} finished`} />
    </div>
  );
}

function AddItem({ known, onAdd }: { known: SprintItem[]; onAdd: (id: string) => void }) {
  const [text, setText] = useState("");
  const words = useDeferredValue(text.trim());
  const found = useQuery(itemsLikeQuery(words)).data?.items ?? [];
  const there = new Set(known.map(({ id }) => id));
  const offered = words === "" ? [] : found.filter(({ id }) => !there.has(id));
  const id = useId();
  return (
    <div className="add-item">
      <label htmlFor={id}>Put an item in</label>
      <input
        id={id}
        className="line-input"
        type="search"
        placeholder="Words of its title, or its id"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && text !== "") {
            event.preventDefault();
            setText("");
          } else if (event.key === "Enter" && offered[0] !== undefined) {
            event.preventDefault();
            onAdd(offered[0].id);
            setText("");
          }
        }}
      />
      {words !== "" && (
        <ul className="offered" aria-label="Items that fit">
          {offered.length === 0 && <li className="card-hint">No open item fits.</li>}
          {offered.map((item) => (
            <li key={item.id}>
              <button type="button" className="choice" onClick={() => onAdd(item.id)}>
                <span dir="auto">{firstLine(item.title, 100)}</span> <code>{plainText(item.id)}</code>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
