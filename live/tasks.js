export class Tasks {}
