/** The frame of every page: the org, the pages that the person's role opens, the theme, and the way out. */
import { computed } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/field.tsx";
import { Link } from "../parts/link.tsx";
import { FaultNote, Waiting } from "../parts/note.tsx";
import { Page } from "../parts/panel.tsx";
import { NoOrg } from "./no-org.tsx";
import { isOpen, listedPages, openPages, placePages } from "./open-pages.ts";
import { OrgState } from "./org-state.tsx";
import { type ConsolePage, SECTIONS } from "./pages.ts";
import { openPalette, Palette } from "./palette.tsx";
import { pickOrg } from "./pick-org.tsx";
import { go, pageAddress, query, segments } from "./router.ts";
import {
  chooseOrg,
  isOperator,
  isOperatorPlace,
  listedOrg,
  me,
  OPERATOR,
  orgSlug,
  sessionFault,
  signOut,
} from "./session.ts";
import { chooseTheme, type Theme, theme } from "./theme.ts";

const pageName = computed(() => segments.value[1] ?? "");

export function Shell() {
  const wanted = segments.value[0];
  useEffect(() => {
    if (me.value !== undefined) chooseOrg(wanted);
  }, [wanted]);
  if (sessionFault.value !== undefined) {
    return (
      <Page title="Weir">
        <FaultNote fault={sessionFault.value} onRetry={() => location.reload()} />
      </Page>
    );
  }
  if (me.value === undefined) return <Waiting />;
  if (!isOpen.value) return <NoOrg />;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        To the content
      </a>
      <Navigation />
      <div class="shell-main">
        <OrgState />
        <CurrentPage />
      </div>
      <Palette />
    </div>
  );
}

function Navigation() {
  const home = openPages.value[0];
  const list = useRef<HTMLUListElement>(null);
  // Where the window is narrow the list is one row that scrolls: the page that is shown is in sight.
  useEffect(() => {
    const row = list.current;
    const current = row?.querySelector<HTMLElement>("[aria-current]");
    if (row === null || current == null || row.scrollWidth <= row.clientWidth) return;
    row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }, [pageName.value]);
  return (
    <nav class="shell-nav" aria-label="Pages">
      <Link class="shell-name" to={home === undefined ? [] : [home.path]}>
        Weir
      </Link>
      <OrgChoice />
      <button type="button" class="shell-find" onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
        Find <kbd>{IS_APPLE ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <ul ref={list}>
        {[undefined, ...SECTIONS].map((section) => (
          <SectionLinks key={section} of={section} />
        ))}
      </ul>
      <OwnMenu />
    </nav>
  );
}

function SectionLinks({ of: section }: { readonly of: ConsolePage["section"] }) {
  const pages = listedPages.value.filter((page) => page.section === section);
  if (pages.length === 0) return null;
  return (
    <>
      {section !== undefined && <li class="shell-section">{section}</li>}
      {pages.map(({ path, title }) => (
        <li key={path}>
          <Link to={[path]} current={path === pageName.value}>
            {title}
          </Link>
        </li>
      ))}
    </>
  );
}

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** What is the reader's own: the theme, and the way out. It closes with Escape, and with a click elsewhere. */
function OwnMenu() {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const isElsewhere = !(event.target instanceof Node && menu.current?.contains(event.target));
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      if (menu.current?.open !== true || !(isEscape || (event.type === "pointerdown" && isElsewhere))) return;
      menu.current.open = false;
      if (isEscape) menu.current.querySelector("summary")?.focus();
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("keydown", close);
    };
  }, []);
  const email = me.value?.user.email ?? "";
  const ownPages = openPages.value.filter(({ isOwn }) => isOwn === true);
  const close = () => menu.current?.removeAttribute("open");
  return (
    <details class="shell-own" ref={menu}>
      <summary aria-label={`${email}: your own pages, theme, sign out`}>
        <span class="shell-email">{email}</span>
      </summary>
      <div class="shell-own-list">
        <span class="small quiet break">{email}</span>
        <Choice
          label="Theme"
          value={theme.value}
          onValue={(value) => chooseTheme(value as Theme)}
          options={[
            ["system", "As the system"],
            ["light", "Light"],
            ["dark", "Dark"],
          ]}
        />
        {ownPages.map(({ path, title }) => (
          <Link key={path} to={[path]} onFollow={close}>
            {title}
          </Link>
        ))}
        <a href="/docs">API reference</a>
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </details>
  );
}

function OrgChoice() {
  const orgs = me.value?.orgs ?? [];
  const places = orgs.map(({ slug, name }) => [slug, name] as const);
  if (isOperator.value) places.push([OPERATOR, "This installation"]);
  if (places.length < 2) return <span class="shell-org quiet">{places[0]?.[1]}</span>;
  return <Choice label="Organisation" value={orgSlug.value} onValue={pickOrg} options={places} />;
}

/** What has been loaded stays. A page of an org and one of the operator may have the same path. */
const loaded = new Map<ConsolePage, ComponentType>();

function CurrentPage() {
  const name = pageName.value;
  const slug = orgSlug.value;
  const page = openPages.value.find(({ path }) => path === name);
  const [, drawAgain] = useState(0);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const isFirst = query.value.has("welcome");
    const welcome = openPages.value.find(({ path }) => isFirst && path === "welcome");
    const home = welcome ?? openPages.value[0];
    if (name === "" && home !== undefined) go(pageAddress(slug, [home.path]), "replace");
  }, [name, slug]);
  useEffect(() => {
    if (page === undefined || loaded.has(page)) return;
    setLost(false);
    page.load().then(
      (component) => {
        loaded.set(page, component);
        drawAgain((count) => count + 1);
      },
      () => setLost(true),
    );
  }, [page]);
  if (name === "") return <Waiting />;
  if (page === undefined) return <Missing />;
  if (isLost) return <Outdated title={page.title} />;
  const Component = loaded.get(page);
  if (Component === undefined) {
    return (
      <Page title={page.title}>
        <Waiting />
      </Page>
    );
  }
  // A page of another org is another page: nothing that was read of the first is shown.
  return <Component key={`${slug} ${page.path}`} />;
}

function Missing() {
  const isKnown = placePages.value.some(({ path }) => path === pageName.value);
  const status = isOperatorPlace.value ? "active" : (listedOrg.value?.status ?? "active");
  const title =
    status === "active" ? "Not open to your role" : `Not open while the organisation is ${status}`;
  return (
    <Page title={isKnown ? title : "There is no such page"}>
      <p>
        {!isKnown && "The address may be mistyped, or of a later release."}
        {isKnown && status !== "active" && "These pages are open:"}
        {isKnown &&
          status === "active" &&
          `You are ${listedOrg.value?.role} in ${listedOrg.value?.name}, which does not open this page. An admin can change your role.`}
      </p>
      <Links />
    </Page>
  );
}

const Links = () => (
  <p class="row links">
    {listedPages.value.map(({ path, title }) => (
      <Link key={path} to={[path]}>
        {title}
      </Link>
    ))}
  </p>
);

/** The gateway was restarted with another release, whose files have other names. */
const Outdated = ({ title }: { readonly title: string }) => (
  <Page title={title}>
    <p>This page could not be loaded: the gateway may have been renewed meanwhile.</p>
    <div class="row">
      <Button kind="main" onClick={() => location.reload()}>
        Load again
      </Button>
    </div>
  </Page>
);
