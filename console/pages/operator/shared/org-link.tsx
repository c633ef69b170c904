/** An organisation by its id, as lists of the operator have it. */
import { Link } from "../../../parts/link.tsx";

/** @param id empty: it is not known, or concerns none */
export const OrgLink = ({ id }: { readonly id: string }) =>
  id === "" ? (
    <span class="quiet">–</span>
  ) : (
    <Link to={["organisations", id]} class="break">
      <code>{id}</code>
    </Link>
  );
