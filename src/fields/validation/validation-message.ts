import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';

/** A message as the decorators of class-validator accept it. */
type Message = string | ((args: ValidationArguments) => string);

/** A rule as a decorator declares it. */
interface Rule {
  readonly message?: Message;
}

/** The implementation of a rule. */
interface Constraint {
  readonly instance: ValidatorConstraintInterface;
}

/** The message of class-validator for a broken rule, with its tokens replaced. */
export function messageOf(rule: Rule, constraint: Constraint, args: ValidationArguments): string {
  const text = textOf(declaredMessage(rule, constraint, args), args);
  // `join` converts any result of a message function to a string: null and undefined become ''.
  return [text ? withTokens(text, args) : text].join('');
}

function declaredMessage({ message }: Rule, { instance }: Constraint, args: ValidationArguments) {
  if (message) return message;
  return instance.defaultMessage instanceof Function ? instance.defaultMessage(args) : '';
}

function textOf(message: Message, args: ValidationArguments): string | undefined {
  if (message instanceof Function) return message(args);
  return typeof message === 'string' ? message : undefined;
}

/** Like class-validator, this lets `$&` and other patterns in the replacements take effect. */
function withTokens(message: string, args: ValidationArguments): string {
  let text = message;
  if (Array.isArray(args.constraints)) {
    args.constraints.forEach((constraint: unknown, index) => {
      const token = new RegExp(String.raw`\$constraint${index + 1}`, 'g');
      text = text.replace(token, constraintText(constraint));
    });
  }
  if (['string', 'boolean', 'number'].includes(typeof args.value)) {
    text = text.replace(/\$value/g, String(args.value));
  }
  return text.replace(/\$property/g, args.property).replace(/\$target/g, args.targetName);
}

function constraintText(constraint: unknown): string {
  if (Array.isArray(constraint)) return constraint.join(', ');
  return String(typeof constraint === 'symbol' ? constraint.description : constraint);
}
