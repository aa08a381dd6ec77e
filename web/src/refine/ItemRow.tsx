/** One item of the table: its facts in a row; beneath it what can be changed, what was refused, and what the PM says. */
import { memo, useRef } from "react";
import type { BacklogItem } from "../api/refine-queries";
import { explain } from "../api/problem";
import { linkToOne } from "../app/routes";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { EditFields, type FieldName } from "./EditFields";
import { SaidOf } from "./SaidOf";
import { changeIn, shortNumber, stateWords, type Said } from "./rows";
import { isConflict, useChange, type Changing } from "./useChange";

export const COLUMNS = 9;

interface Props {
  item: BacklogItem;
  wholes: readonly BacklogItem[];
  isSelected: boolean;
  /** The field that is open for a change. */
  edits: FieldName | null;
  said: Said | undefined;
  consult: string;
  applied: readonly number[];
  canApply: boolean;
  onSelect: (id: string) => void;
  onEdit: (id: string | null, field?: FieldName) => void;
}

export const ItemRow = memo(function ItemRow(props: Props) {
  const { item, wholes, isSelected, edits, said, consult, applied, canApply, onSelect, onEdit } = props;
  const changing = useChange(item.id);
  const row = useRef<HTMLTableRowElement>(null);
  const whole = wholes.find(({ id }) => id === item.parent);
  const parent = whole?.title ?? item.parent ?? "";
  const facts = [item.kind, stateWords(item.state), parent, item.labels.join(", ")].filter(Boolean).join(" · ");

  function leave(): void {
    row.current?.focus();
    onEdit(null);
  }

  return (
    <tbody data-item={item.id} data-selected={isSelected || undefined}>
      <tr
        ref={row}
        className="refine-row"
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.target !== row.current || !/^[0-4]$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey)
            return;
          event.preventDefault();
          changing.change(item, { priority: Number(event.key) });
        }}
      >
        <td>
          <input
            type="checkbox"
            aria-label={`Select ${item.id}`}
            checked={isSelected}
            onChange={() => onSelect(item.id)}
          />
        </td>
        <td className="refine-priority" data-priority={item.priority}>
          P{item.priority}
        </td>
        <th scope="row">
          <button
            type="button"
            className="refine-title"
            aria-expanded={edits !== null}
            onClick={() => (edits === null ? onEdit(item.id, "priority") : leave())}
          >
            <span dir="auto">{plainText(item.title)}</span>
          </button>
          <a className="refine-id" {...linkToOne("item", item.id)}>
            {item.id}
          </a>
          <span className="refine-facts">{plainText(facts)}</span>
        </th>
        <td>{item.kind}</td>
        <td>{stateWords(item.state)}</td>
        <td className="refine-parent" dir="auto" title={plainText(parent)}>
          {plainText(parent)}
        </td>
        <td className="refine-labels-cell" dir="auto">
          {plainText(item.labels.join(", "))}
        </td>
        <td className="refine-number">{shortNumber(item.estimated_tokens)}</td>
        <td className="refine-number">
          <Age since={item.created_at} />
        </td>
      </tr>
      {edits !== null && (
        <tr className="refine-more">
          <td colSpan={COLUMNS}>
            <EditFields item={item} wholes={wholes} first={edits} changing={changing} onLeave={leave} />
          </td>
        </tr>
      )}
      {changing.refused !== null && (
        <tr className="refine-more">
          <td colSpan={COLUMNS}>
            <RefusedChange item={item} changing={changing} refused={changing.refused} />
          </td>
        </tr>
      )}
      {said !== undefined && (
        <tr className="refine-more">
          <td colSpan={COLUMNS}>
            <SaidOf said={said} consult={consult} applied={applied} canApply={canApply} />
          </td>
        </tr>
      )}
    </tbody>
  );
});

interface RefusedProps {
  item: BacklogItem;
  changing: Changing;
  refused: NonNullable<Changing["refused"]>;
}

function RefusedChange({ item, changing, refused: { error, change } }: RefusedProps) {
  const words = isConflict(error)
    ? `Somebody changed it meanwhile; it is shown as it is now. Yours was: ${changeIn(change)}.`
    : `Not changed. ${explain(error)}`;
  return (
    <p className="mark" data-tone={isConflict(error) ? "warn" : "bad"} role="alert">
      <Icon name="warn" />
      <span>{plainText(words)}</span>
      {isConflict(error) && (
        <button type="button" className="link-button" onClick={() => changing.change(item, change)}>
          Change it all the same
        </button>
      )}
      <button type="button" className="link-button" onClick={changing.forget}>
        Leave it
      </button>
    </p>
  );
}
