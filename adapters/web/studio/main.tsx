import { render } from "preact";
import "../parts/style.css";
import "./style.css";
import "./sign-in.css";
import "./composer.css";
import "./generations.css";
import "./stems.css";
import { Studio } from "./studio.js";

const page = document.getElementById("page");
if (page !== null) render(<Studio />, page);
