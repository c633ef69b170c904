/** Stylesheets are bundled: importing one says that the page has it. */
declare module "*.css";
