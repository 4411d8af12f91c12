import { render } from "preact";
import "../parts/style.css";
import "../parts/code.css";
import "./shell/style.css";
import "./shell/sign-in.css";
import "./compose/composer.css";
import "./music/generations.css";
import "./stems/stems.css";
import { Studio } from "./shell/studio.js";

const page = document.getElementById("page");
if (page !== null) render(<Studio />, page);
