/** The look of `/docs`: system fonts, one accent, light or dark as the reader's system is. */
export const STYLE = `
:root { --fg: #1d2329; --soft: #5a6672; --bg: #fff; --panel: #f5f7f9; --line: #dde3e9; --accent: #0b6e99;
  --get: #0b6e99; --post: #1a7f45; --patch: #9a6200; --delete: #b3261e; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e3e8ed; --soft: #9aa7b4; --bg: #12171c; --panel: #1a2128; --line: #2d3740; --accent: #6cc3e8;
    --get: #6cc3e8; --post: #6fd394; --patch: #e8b25c; --delete: #ff9388; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); color: var(--fg); background: var(--bg);
  font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; padding: .5rem 1rem; background: var(--bg); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; background: var(--panel);
  border-right: 1px solid var(--line); font-size: .8125rem; }
nav .brand { margin: 0; font-size: 1.125rem; font-weight: 650; }
nav small { color: var(--soft); font-weight: 400; }
nav h2 { margin: 1.25rem 0 .25rem; font-size: .75rem; text-transform: uppercase; letter-spacing: .06em; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { color: var(--accent); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: flex; gap: .5rem; padding: .15rem 0; align-items: baseline; }
main { max-width: 58rem; padding: 2rem clamp(1rem, 4vw, 3.5rem) 6rem; }
h1 { margin: 0 0 .5rem; font-size: 2rem; line-height: 1.2; letter-spacing: -.01em; }
section > h2 { margin: 3.5rem 0 0; padding-bottom: .4rem; font-size: 1.375rem; border-bottom: 1px solid var(--line); }
article { padding: 1.5rem 0 1rem; }
article + article { border-top: 1px solid var(--line); }
h3 { margin: 0; font-size: 1.0625rem; }
h3:target code { background: color-mix(in srgb, var(--accent) 22%, transparent); }
h4 { margin: 1.25rem 0 .25rem; font-size: .875rem; }
em { color: var(--soft); font-style: normal; }
code, pre, .method { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { font-size: .875em; }
pre { margin: .5rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--panel); border: 1px solid var(--line);
  border-radius: 6px; line-height: 1.45; }
.method { display: inline-block; min-width: 3.6em; font-size: .75em; font-weight: 700; color: var(--get); }
.method.post { color: var(--post); } .method.patch, .method.put { color: var(--patch); }
.method.delete { color: var(--delete); }
table { width: 100%; margin: .75rem 0; border-collapse: collapse; font-size: .875rem; }
caption { padding: .25rem 0; text-align: left; font-weight: 650; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; }
thead th { border: 0; color: var(--soft); font-weight: 400; }
th[scope="row"] { width: 32%; padding-left: calc(var(--depth) * 1.1rem); font-weight: 400; }
td:nth-child(2) { width: 20%; color: var(--soft); }
abbr { color: var(--delete); text-decoration: none; }
details { margin: .25rem 0; }
summary { cursor: pointer; }
.errors { margin: .25rem 0; padding-left: 1.25rem; font-size: .875rem; }
@media (max-width: 52rem) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 45vh; border: 0; border-bottom: 1px solid var(--line); }
  main { padding-top: 1rem; }
}
@media print { nav, .skip { display: none; } body { display: block; } }
`;
