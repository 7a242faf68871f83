import { quote } from "../fmt/quote.ts";
import type { Node, Operand, PipeNode, Statement } from "./ast.ts";

/** A node as Go's error messages show it between angle brackets: normalised template source. */
export function nodeText(node: Node): string {
  switch (node.kind) {
    case "command":
      return node.args.map(argumentText).join(" ");
    case "text":
      return node.text;
    case "action":
      return `{{${nodeText(node.pipe)}}}`;
    case "template":
      return `{{template ${quote(node.name)}${afterSpace(node.pipe)}}}`;
    case "break":
    case "continue":
      return `{{${node.kind}}}`;
    case "if":
    case "with":
    case "range":
      return `{{${node.kind}${afterSpace(node.pipe)}}}${listText(node.list)}${elseText(node.otherwise)}{{end}}`;
    default:
      return operandText(node);
  }
}

function afterSpace(pipe: PipeNode | undefined): string {
  return pipe === undefined ? "" : ` ${pipeText(pipe)}`;
}

function elseText(otherwise: readonly Statement[] | undefined): string {
  return otherwise === undefined ? "" : `{{else}}${listText(otherwise)}`;
}

function operandText(node: Operand): string {
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
    case "nil":
      return "nil";
    case "bool":
      return String(node.value);
    case "number":
      return node.text;
    case "string":
      return node.quoted;
    default:
      return ".";
  }
}

function argumentText(node: Operand): string {
  return node.kind === "pipe" ? `(${nodeText(node)})` : nodeText(node);
}

function pipeText(pipe: PipeNode): string {
  const commands = pipe.commands.map(nodeText).join(" | ");
  if (pipe.declared.length === 0) return commands;
  return `${pipe.declared.map(nodeText).join(", ")} ${pipe.isAssign ? "=" : ":="} ${commands}`;
}

function listText(list: readonly Statement[]): string {
  return list.map(nodeText).join("");
}
