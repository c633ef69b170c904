/** The page "Keys": the list, a new key, one key by its id; and the dialog of a secret, which stays whatever else is shown. */
import { segments } from "../../app/router.ts";
import { SecretDialog } from "../../parts/secret.tsx";
import { KeyPage } from "./key-page.tsx";
import { KeyList } from "./list.tsx";
import { NewKey } from "./new-key.tsx";

export function Keys() {
  const at = segments.value[2] ?? "";
  return (
    <>
      {at === "" && <KeyList />}
      {at === "new" && <NewKey />}
      {at !== "" && at !== "new" && <KeyPage key={at} id={at} />}
      <SecretDialog />
    </>
  );
}
