#!/usr/bin/env node
import "./command.js";
