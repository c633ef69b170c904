/** A thing by its name or id: a link where the console shows it and the role opens that, else its id to copy. */
import { placeOf } from "../app/places.ts";
import { Copy } from "./copy.tsx";
import { Link } from "./link.tsx";

interface PlaceProps {
  /** What it is: `key`, `webhook`, … */
  readonly kind: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** It is gone: nothing leads there. */
  readonly isGone?: boolean;
}

export function Place({ kind, id, name, isGone }: PlaceProps) {
  const to = isGone === true ? undefined : placeOf(kind, id);
  if (to !== undefined) {
    return (
      <Link to={to} class="break">
        {name ?? <code>{id}</code>}
      </Link>
    );
  }
  return (
    <>
      {name !== undefined && <span class="break">{name} </span>}
      <Copy text={id} what={`id of the ${kind.replaceAll("_", " ")}`} />
    </>
  );
}
