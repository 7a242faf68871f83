import { quote } from "../fmt/quote.ts";
import type { BranchNode, Node, Operand, PipeNode, Statement, TemplateNode } from "./ast.ts";

/** A node as Go's error messages show it between angle brackets: normalised template source. */
export function nodeText(node: Node): string {
  switch (node.kind) {
    case "command":
      return node.args.map(argumentText).join(" ");
    case "text":
      return node.text;
    case "action":
      return `{{${pipeText(node.pipe)}}}`;
    case "template":
      return templateText(node);
    case "break":
    case "continue":
      return `{{${node.kind}}}`;
    case "if":
    case "with":
    case "range":
      return branchText(node);
    default:
      return operandText(node);
  }
}

function templateText(node: TemplateNode): string {
  return `{{template ${quote(node.name)}${node.pipe === undefined ? "" : ` ${pipeText(node.pipe)}`}}}`;
}

/** An operand as template source. */
export function operandText(node: Operand): string {
  switch (node.kind) {
    case "field":
      return `.${node.names.join(".")}`;
    case "variable":
      return node.names.join(".");
    case "chain":
      return `${argumentText(node.node)}.${node.names.join(".")}`;
    case "identifier":
      return node.name;
    case "pipe":
      return pipeText(node);
    default:
      return literalText(node);
  }
}

function literalText(node: Extract<Operand, { kind: "dot" | "nil" | "bool" | "number" | "string" }>): string {
  switch (node.kind) {
    case "dot":
      return ".";
    case "nil":
      return "nil";
    case "bool":
      return String(node.value);
    case "number":
      return node.text;
    case "string":
      return node.quoted;
  }
}

function argumentText(node: Operand): string {
  return node.kind === "pipe" ? `(${pipeText(node)})` : operandText(node);
}

function pipeText(pipe: PipeNode): string {
  const commands = pipe.commands.map(nodeText).join(" | ");
  if (pipe.declared.length === 0) return commands;
  return `${pipe.declared.map(nodeText).join(", ")} ${pipe.isAssign ? "=" : ":="} ${commands}`;
}

function branchText(node: BranchNode): string {
  const otherwise = node.otherwise === undefined ? "" : `{{else}}${listText(node.otherwise)}`;
  return `{{${node.kind} ${pipeText(node.pipe)}}}${listText(node.list)}${otherwise}{{end}}`;
}

function listText(list: readonly Statement[]): string {
  return list.map(nodeText).join("");
}
