/** A field for the id of an item: words that are typed find some, and choosing one puts its id there. */
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, type Ref } from "react";
import { foundQuery } from "../api/work-queries";
import { firstLine } from "../ui/plain-text";

interface Props {
  label: string;
  value: string;
  onValue: (value: string) => void;
  box?: Ref<HTMLInputElement>;
}

export function ItemPicker({ label, value, onValue, box }: Props) {
  const list = useId();
  const words = useDeferredValue(value.trim());
  const found = useQuery(foundQuery(words)).data?.items ?? [];
  return (
    <>
      <input
        ref={box}
        className="line-input"
        aria-label={label}
        placeholder="An id, or words of its title"
        maxLength={500}
        value={value}
        list={list}
        onChange={(event) => onValue(event.target.value)}
      />
      <datalist id={list}>
        {found.map(({ id, title }) => (
          <option key={id} value={id}>
            {firstLine(title, 80)}
          </option>
        ))}
      </datalist>
    </>
  );
}
