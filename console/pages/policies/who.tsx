/** Who did something: a person by name, or a key by its id. */
import { Link } from "../../parts/link.tsx";
import type { Known } from "./policy-data.ts";

export function Who({ id, known }: { readonly id: string; readonly known: Known }) {
  const name = known.personName(id);
  if (name !== undefined) return <span class="policy-who">{name}</span>;
  if (!id.startsWith("key_")) return <code class="policy-who">{id}</code>;
  return (
    <Link to={["keys", id]}>
      Key <code>{id.slice(-6)}</code>
    </Link>
  );
}
