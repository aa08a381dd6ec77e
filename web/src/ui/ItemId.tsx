/** A work item by its id, which leads to its own screen. */
import { linkToOne } from "../app/routes";
import { plainText } from "./plain-text";

export function ItemId({ id }: { id: string }) {
  return (
    <a className="item-id" {...linkToOne("item", id)}>
      <code>{plainText(id)}</code>
    </a>
  );
}
