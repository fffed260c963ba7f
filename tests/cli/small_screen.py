"""A minimal terminal emulator for `holdfast top`: replays output and knows the screen content."""
import re

CODE = re.compile(rb"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class SmallScreen:
    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.alternate = False
        self.cursor = True
        self.wraps = True
        self.colours = 0  # number of colour changes
        self.frames = 0
        self.outside = []  # text written beyond the screen
        self.rest = b""

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def lines(self):
        return ["".join(line).rstrip() for line in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, data):
        data = self.rest + data
        at = 0
        while at < len(data):
            if data[at] == 0x1B:
                code = CODE.match(data, at)
                if not code:
                    break  # incomplete, wait for more
                self.obey(code[1] == b"?", code[2].decode(), code[3].decode())
                at = code.end()
                continue
            length = 1 if data[at] < 0x80 else 2 if data[at] < 0xE0 else 3 if data[at] < 0xF0 else 4
            if at + length > len(data):
                break
            self.put(data[at : at + length].decode())
            at += length
        self.rest = data[at:]

    def obey(self, private, numbers, letter):
        if private:
            known = {"1049": "alternate", "25": "cursor", "7": "wraps"}
            setattr(self, known[numbers], letter == "h")
        elif letter == "H":
            row, column = (int(n) for n in numbers.split(";"))
            self.row, self.column = row - 1, column - 1
            self.frames += 1
        elif (numbers, letter) == ("2", "J"):
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif (numbers, letter) == ("2", "K"):
            if self.row < self.rows:
                self.cells[self.row] = [" "] * self.columns
        elif letter == "m":
            self.colours += numbers != "0"
        else:
            raise AssertionError(f"unknown escape code: {numbers}{letter}")

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
        elif self.row < self.rows and self.column < self.columns:
            self.cells[self.row][self.column] = character
            self.column += 1
        else:
            self.outside.append(character)
