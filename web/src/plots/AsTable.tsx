/** The figures behind a plot, in a table that unfolds. */
import { useId, type ReactNode } from "react";

export interface Column<Row> {
  title: string;
  of: (row: Row) => ReactNode;
}

interface Props<Row> {
  /** What the table has, by what. */
  caption: string;
  /** The first names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

export function AsTable<Row>({ caption, columns: [head, ...others], rows, keyOf }: Props<Row>) {
  const id = useId();
  return (
    <details className="as-table">
      <summary>As a table</summary>
      <div className="panel table-panel figures-panel" tabIndex={0} role="region" aria-labelledby={id}>
        <table className="figures">
          <caption id={id}>{caption}</caption>
          <thead>
            <tr>
              {[head, ...others].map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                <th scope="row">{head.of(row)}</th>
                {others.map(({ title, of }) => (
                  <td key={title}>{of(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
