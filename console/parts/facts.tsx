/** Names and values of one thing. */
import type { ComponentChildren } from "preact";

/** Rows whose value is undefined are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [
          <dt key={`${name} name`}>{name}</dt>,
          <dd key={name} class="break">
            {value}
          </dd>,
        ])}
    </dl>
  );
}
