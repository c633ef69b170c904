/** The page "Overview". */
import { Page } from "../../parts/panel.tsx";

export const Overview = () => (
  <Page title="Overview">
    <p class="quiet">Overview</p>
  </Page>
);
