"""Characters that the reference removes, pads, strips, splits and lower-cases.

Written by `python -m benchmarks.normalizer_tables`, measured on `tokenizers` 0.23.3; do not
edit. Ranges are hexadecimal and include both ends. Read by `bert_core.text.normalizer`.
"""

# Control, format and private-use characters, NUL and U+FFFD: dropped by cleaning.
REMOVED = (
    "0-8 b-c e-1f 7f-9f ad 600-605 61c 6dd 70f 180e 200b-200f 202a-202e 2060-2064 2066-206f "
    "e000-f8ff feff fff9-fffb fffd 110bd 1bca0-1bca3 1d173-1d17a e0001 e0020-e007f f0000-ffffd "
    "100000-10fffd"
)

# Whitespace: replaced by U+0020.
BLANK = "9-a d 20 a0 1680 2000-200a 2028-2029 202f 205f 3000"

# Surrounded by spaces, so that each becomes a word.
CHINESE = "3400-4dbf 4e00-9fff f900-faff 20000-2a6df 2a700-2b81f 2b920-2ceaf 2f800-2fa1f"

# Accents: dropped after decomposition.
NONSPACING = (
    "300-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e4 "
    "6e7-6e8 6ea-6ed 711 730-74a 7a6-7b0 7eb-7f3 816-819 81b-823 825-827 829-82d 859-85b "
    "8e3-902 93a 93c 941-948 94d 951-957 962-963 981 9bc 9c1-9c4 9cd 9e2-9e3 a01-a02 a3c "
    "a41-a42 a47-a48 a4b-a4d a51 a70-a71 a75 a81-a82 abc ac1-ac5 ac7-ac8 acd ae2-ae3 b01 b3c "
    "b3f b41-b44 b4d b56 b62-b63 b82 bc0 bcd c00 c3e-c40 c46-c48 c4a-c4d c55-c56 c62-c63 c81 "
    "cbc cbf cc6 ccc-ccd ce2-ce3 d01 d41-d44 d4d d62-d63 dca dd2-dd4 dd6 e31 e34-e3a e47-e4e "
    "eb1 eb4-eb9 ebb-ebc ec8-ecd f18-f19 f35 f37 f39 f71-f7e f80-f84 f86-f87 f8d-f97 f99-fbc "
    "fc6 102d-1030 1032-1037 1039-103a 103d-103e 1058-1059 105e-1060 1071-1074 1082 1085-1086 "
    "108d 109d 135d-135f 1712-1714 1732-1734 1752-1753 1772-1773 17b4-17b5 17b7-17bd 17c6 "
    "17c9-17d3 17dd 180b-180d 18a9 1920-1922 1927-1928 1932 1939-193b 1a17-1a18 1a1b 1a56 "
    "1a58-1a5e 1a60 1a62 1a65-1a6c 1a73-1a7c 1a7f 1ab0-1abd 1b00-1b03 1b34 1b36-1b3a 1b3c 1b42 "
    "1b6b-1b73 1b80-1b81 1ba2-1ba5 1ba8-1ba9 1bab-1bad 1be6 1be8-1be9 1bed 1bef-1bf1 1c2c-1c33 "
    "1c36-1c37 1cd0-1cd2 1cd4-1ce0 1ce2-1ce8 1ced 1cf4 1cf8-1cf9 1dc0-1df5 1dfc-1dff 20d0-20dc "
    "20e1 20e5-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302d 3099-309a a66f a674-a67d a69e-a69f "
    "a6f0-a6f1 a802 a806 a80b a825-a826 a8c4 a8e0-a8f1 a926-a92d a947-a951 a980-a982 a9b3 "
    "a9b6-a9b9 a9bc a9e5 aa29-aa2e aa31-aa32 aa35-aa36 aa43 aa4c aa7c aab0 aab2-aab4 aab7-aab8 "
    "aabe-aabf aac1 aaec-aaed aaf6 abe5 abe8 abed fb1e fe00-fe0f fe20-fe2f 101fd 102e0 "
    "10376-1037a 10a01-10a03 10a05-10a06 10a0c-10a0f 10a38-10a3a 10a3f 10ae5-10ae6 11001 "
    "11038-11046 1107f-11081 110b3-110b6 110b9-110ba 11100-11102 11127-1112b 1112d-11134 11173 "
    "11180-11181 111b6-111be 111ca-111cc 1122f-11231 11234 11236-11237 112df 112e3-112ea "
    "11300-11301 1133c 11340 11366-1136c 11370-11374 114b3-114b8 114ba 114bf-114c0 114c2-114c3 "
    "115b2-115b5 115bc-115bd 115bf-115c0 115dc-115dd 11633-1163a 1163d 1163f-11640 116ab 116ad "
    "116b0-116b5 116b7 1171d-1171f 11722-11725 11727-1172b 16af0-16af4 16b30-16b36 16f8f-16f92 "
    "1bc9d-1bc9e 1d167-1d169 1d17b-1d182 1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1da00-1da36 "
    "1da3b-1da6c 1da75 1da84 1da9b-1da9f 1daa1-1daaf 1e8d0-1e8d6 e0100-e01ef"
)

# Punctuation: each character becomes a word.
PUNCTUATION = (
    "21-2f 3a-40 5b-60 7b-7e a1 a7 ab b6-b7 bb bf 37e 387 55a-55f 589-58a 5be 5c0 5c3 5c6 "
    "5f3-5f4 609-60a 60c-60d 61b 61e-61f 66a-66d 6d4 700-70d 7f7-7f9 830-83e 85e 964-965 970 "
    "af0 df4 e4f e5a-e5b f04-f12 f14 f3a-f3d f85 fd0-fd4 fd9-fda 104a-104f 10fb 1360-1368 1400 "
    "166d-166e 169b-169c 16eb-16ed 1735-1736 17d4-17d6 17d8-17da 1800-180a 1944-1945 1a1e-1a1f "
    "1aa0-1aa6 1aa8-1aad 1b5a-1b60 1bfc-1bff 1c3b-1c3f 1c7e-1c7f 1cc0-1cc7 1cd3 2010-2027 "
    "2030-2043 2045-2051 2053-205e 207d-207e 208d-208e 2308-230b 2329-232a 2768-2775 27c5-27c6 "
    "27e6-27ef 2983-2998 29d8-29db 29fc-29fd 2cf9-2cfc 2cfe-2cff 2d70 2e00-2e2e 2e30-2e42 "
    "3001-3003 3008-3011 3014-301f 3030 303d 30a0 30fb a4fe-a4ff a60d-a60f a673 a67e a6f2-a6f7 "
    "a874-a877 a8ce-a8cf a8f8-a8fa a8fc a92e-a92f a95f a9c1-a9cd a9de-a9df aa5c-aa5f aade-aadf "
    "aaf0-aaf1 abeb fd3e-fd3f fe10-fe19 fe30-fe52 fe54-fe61 fe63 fe68 fe6a-fe6b ff01-ff03 "
    "ff05-ff0a ff0c-ff0f ff1a-ff1b ff1f-ff20 ff3b-ff3d ff3f ff5b ff5d ff5f-ff65 10100-10102 "
    "1039f 103d0 1056f 10857 1091f 1093f 10a50-10a58 10a7f 10af0-10af6 10b39-10b3f 10b99-10b9c "
    "11047-1104d 110bb-110bc 110be-110c1 11140-11143 11174-11175 111c5-111c9 111cd 111db "
    "111dd-111df 11238-1123d 112a9 114c6 115c1-115d7 11641-11643 1173c-1173e 12470-12474 "
    "16a6e-16a6f 16af5 16b37-16b3b 16b44 1bc9f 1da87-1da8b"
)

# Characters with a canonical decomposition (without Hangul syllables).
DECOMPOSED = (
    "c0-c5 c7-cf d1-d6 d9-dd e0-e5 e7-ef f1-f6 f9-fd ff-10f 112-125 128-130 134-137 139-13e "
    "143-148 14c-151 154-165 168-17e 1a0-1a1 1af-1b0 1cd-1dc 1de-1e3 1e6-1f0 1f4-1f5 1f8-21b "
    "21e-21f 226-233 340-341 343-344 374 37e 385-38a 38c 38e-390 3aa-3b0 3ca-3ce 3d3-3d4 "
    "400-401 403 407 40c-40e 419 439 450-451 453 457 45c-45e 476-477 4c1-4c2 4d0-4d3 4d6-4d7 "
    "4da-4df 4e2-4e7 4ea-4f5 4f8-4f9 622-626 6c0 6c2 6d3 929 931 934 958-95f 9cb-9cc 9dc-9dd "
    "9df a33 a36 a59-a5b a5e b48 b4b-b4c b5c-b5d b94 bca-bcc c48 cc0 cc7-cc8 cca-ccb d4a-d4c "
    "dda ddc-dde f43 f4d f52 f57 f5c f69 f73 f75-f76 f78 f81 f93 f9d fa2 fa7 fac fb9 1026 1b06 "
    "1b08 1b0a 1b0c 1b0e 1b12 1b3b 1b3d 1b40-1b41 1b43 1e00-1e99 1e9b 1ea0-1ef9 1f00-1f15 "
    "1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe "
    "1fc1-1fc4 1fc6-1fd3 1fd6-1fdb 1fdd-1fef 1ff2-1ff4 1ff6-1ffd 2000-2001 2126 212a-212b "
    "219a-219b 21ae 21cd-21cf 2204 2209 220c 2224 2226 2241 2244 2247 2249 2260 2262 226d-2271 "
    "2274-2275 2278-2279 2280-2281 2284-2285 2288-2289 22ac-22af 22e0-22e3 22ea-22ed 2329-232a "
    "2adc 304c 304e 3050 3052 3054 3056 3058 305a 305c 305e 3060 3062 3065 3067 3069 3070-3071 "
    "3073-3074 3076-3077 3079-307a 307c-307d 3094 309e 30ac 30ae 30b0 30b2 30b4 30b6 30b8 30ba "
    "30bc 30be 30c0 30c2 30c5 30c7 30c9 30d0-30d1 30d3-30d4 30d6-30d7 30d9-30da 30dc-30dd 30f4 "
    "30f7-30fa 30fe f900-fa0d fa10 fa12 fa15-fa1e fa20 fa22 fa25-fa26 fa2a-fa6d fa70-fad9 fb1d "
    "fb1f fb2a-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fb4e 1109a 1109c 110ab 1112e-1112f "
    "1134b-1134c 114bb-114bc 114be 115ba-115bb 1d15e-1d164 1d1bb-1d1c0 2f800-2fa1d"
)

# Characters with a combining class above 0: canonical ordering can move them.
REORDERED = (
    "300-33f 342 345-34e 350-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 "
    "6d6-6dc 6df-6e4 6e7-6e8 6ea-6ed 711 730-74a 7eb-7f3 816-819 81b-823 825-827 829-82d "
    "859-85b 8d4-8e1 8e3-8ff 93c 94d 951-954 9bc 9cd a3c a4d abc acd b3c b4d bcd c4d c55-c56 "
    "cbc ccd d4d dca e38-e3a e48-e4b eb8-eb9 ec8-ecb f18-f19 f35 f37 f39 f71-f72 f74 f7a-f7d "
    "f80 f82-f84 f86-f87 fc6 1037 1039-103a 108d 135d-135f 1714 1734 17d2 17dd 18a9 1939-193b "
    "1a17-1a18 1a60 1a75-1a7c 1a7f 1ab0-1abd 1b34 1b44 1b6b-1b73 1baa-1bab 1be6 1bf2-1bf3 1c37 "
    "1cd0-1cd2 1cd4-1ce0 1ce2-1ce8 1ced 1cf4 1cf8-1cf9 1dc0-1df5 1dfb-1dff 20d0-20dc 20e1 "
    "20e5-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302f 3099-309a a66f a674-a67d a69e-a69f a6f0-a6f1 "
    "a806 a8c4 a8e0-a8f1 a92b-a92d a953 a9b3 a9c0 aab0 aab2-aab4 aab7-aab8 aabe-aabf aac1 aaf6 "
    "abed fb1e fe20-fe2f 101fd 102e0 10376-1037a 10a0d 10a0f 10a38-10a3a 10a3f 10ae5-10ae6 "
    "11046 1107f 110b9-110ba 11100-11102 11133-11134 11173 111c0 111ca 11235-11236 112e9-112ea "
    "1133c 1134d 11366-1136c 11370-11374 11442 11446 114c2-114c3 115bf-115c0 1163f 116b6-116b7 "
    "1172b 11c3f 16af0-16af4 16b30-16b36 1bc9e 1d165-1d169 1d16d-1d172 1d17b-1d182 1d185-1d18b "
    "1d1aa-1d1ad 1d242-1d244 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a "
    "1e8d0-1e8d6 1e944-1e94a"
)

# Lower case as first-last/step+distance. U+0130 (two characters) is left out.
LOWERED = (
    "41-5a/1+20 c0-d6/1+20 d8-de/1+20 100-12e/2+1 132-136/2+1 139-147/2+1 14a-176/2+1 "
    "178-178/1-79 179-17d/2+1 181-181/1+d2 182-184/2+1 186-186/1+ce 187-187/1+1 189-18a/1+cd "
    "18b-18b/1+1 18e-18e/1+4f 18f-18f/1+ca 190-190/1+cb 191-191/1+1 193-193/1+cd 194-194/1+cf "
    "196-196/1+d3 197-197/1+d1 198-198/1+1 19c-19c/1+d3 19d-19d/1+d5 19f-19f/1+d6 1a0-1a4/2+1 "
    "1a6-1a6/1+da 1a7-1a7/1+1 1a9-1a9/1+da 1ac-1ac/1+1 1ae-1ae/1+da 1af-1af/1+1 1b1-1b2/1+d9 "
    "1b3-1b5/2+1 1b7-1b7/1+db 1b8-1b8/1+1 1bc-1bc/1+1 1c4-1c4/1+2 1c5-1c5/1+1 1c7-1c7/1+2 "
    "1c8-1c8/1+1 1ca-1ca/1+2 1cb-1db/2+1 1de-1ee/2+1 1f1-1f1/1+2 1f2-1f4/2+1 1f6-1f6/1-61 "
    "1f7-1f7/1-38 1f8-21e/2+1 220-220/1-82 222-232/2+1 23a-23a/1+2a2b 23b-23b/1+1 23d-23d/1-a3 "
    "23e-23e/1+2a28 241-241/1+1 243-243/1-c3 244-244/1+45 245-245/1+47 246-24e/2+1 370-372/2+1 "
    "376-376/1+1 37f-37f/1+74 386-386/1+26 388-38a/1+25 38c-38c/1+40 38e-38f/1+3f 391-3a1/1+20 "
    "3a3-3ab/1+20 3cf-3cf/1+8 3d8-3ee/2+1 3f4-3f4/1-3c 3f7-3f7/1+1 3f9-3f9/1-7 3fa-3fa/1+1 "
    "3fd-3ff/1-82 400-40f/1+50 410-42f/1+20 460-480/2+1 48a-4be/2+1 4c0-4c0/1+f 4c1-4cd/2+1 "
    "4d0-52e/2+1 531-556/1+30 10a0-10c5/1+1c60 10c7-10c7/1+1c60 10cd-10cd/1+1c60 "
    "13a0-13ef/1+97d0 13f0-13f5/1+8 1c89-1c89/1+1 1c90-1cba/1-bc0 1cbd-1cbf/1-bc0 1e00-1e94/2+1 "
    "1e9e-1e9e/1-1dbf 1ea0-1efe/2+1 1f08-1f0f/1-8 1f18-1f1d/1-8 1f28-1f2f/1-8 1f38-1f3f/1-8 "
    "1f48-1f4d/1-8 1f59-1f5f/2-8 1f68-1f6f/1-8 1f88-1f8f/1-8 1f98-1f9f/1-8 1fa8-1faf/1-8 "
    "1fb8-1fb9/1-8 1fba-1fbb/1-4a 1fbc-1fbc/1-9 1fc8-1fcb/1-56 1fcc-1fcc/1-9 1fd8-1fd9/1-8 "
    "1fda-1fdb/1-64 1fe8-1fe9/1-8 1fea-1feb/1-70 1fec-1fec/1-7 1ff8-1ff9/1-80 1ffa-1ffb/1-7e "
    "1ffc-1ffc/1-9 2126-2126/1-1d5d 212a-212a/1-20bf 212b-212b/1-2046 2132-2132/1+1c "
    "2160-216f/1+10 2183-2183/1+1 24b6-24cf/1+1a 2c00-2c2f/1+30 2c60-2c60/1+1 2c62-2c62/1-29f7 "
    "2c63-2c63/1-ee6 2c64-2c64/1-29e7 2c67-2c6b/2+1 2c6d-2c6d/1-2a1c 2c6e-2c6e/1-29fd "
    "2c6f-2c6f/1-2a1f 2c70-2c70/1-2a1e 2c72-2c72/1+1 2c75-2c75/1+1 2c7e-2c7f/1-2a3f "
    "2c80-2ce2/2+1 2ceb-2ced/2+1 2cf2-2cf2/1+1 a640-a66c/2+1 a680-a69a/2+1 a722-a72e/2+1 "
    "a732-a76e/2+1 a779-a77b/2+1 a77d-a77d/1-8a04 a77e-a786/2+1 a78b-a78b/1+1 a78d-a78d/1-a528 "
    "a790-a792/2+1 a796-a7a8/2+1 a7aa-a7aa/1-a544 a7ab-a7ab/1-a54f a7ac-a7ac/1-a54b "
    "a7ad-a7ad/1-a541 a7ae-a7ae/1-a544 a7b0-a7b0/1-a512 a7b1-a7b1/1-a52a a7b2-a7b2/1-a515 "
    "a7b3-a7b3/1+3a0 a7b4-a7c2/2+1 a7c4-a7c4/1-30 a7c5-a7c5/1-a543 a7c6-a7c6/1-8a38 "
    "a7c7-a7c9/2+1 a7cb-a7cb/1-a567 a7cc-a7da/2+1 a7dc-a7dc/1-a641 a7f5-a7f5/1+1 ff21-ff3a/1+20 "
    "10400-10427/1+28 104b0-104d3/1+28 10570-1057a/1+27 1057c-1058a/1+27 1058c-10592/1+27 "
    "10594-10595/1+27 10c80-10cb2/1+40 10d50-10d65/1+20 118a0-118bf/1+20 16e40-16e5f/1+20 "
    "16ea0-16eb8/1+1b 1e900-1e921/1+22"
)
