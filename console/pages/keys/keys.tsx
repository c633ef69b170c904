/** The page "Keys". */
import { Page } from "../../parts/panel.tsx";

export const Keys = () => (
  <Page title="Keys">
    <p class="quiet">Keys</p>
  </Page>
);
