C     Fixed form and the older parts of the language.
      PROGRAM OLD
      IMPLICIT DOUBLE PRECISION (A-H, O-Z), INTEGER*8 (K)
      CHARACTER*8 NAME, WORDS(3)*4, TEXT*(*)
      PARAMETER (TEXT = 'CONSTANT', MAXN = 10)
      INTEGER*2 SHORT /3/
      REAL*8 VALUES(MAXN) / 5*0.0, 4*1.D0, 2.5 /
      LOGICAL*1 FLAG
      COMPLEX*16 Z
      DOUBLE COMPLEX W
      DIMENSION TABLE(0:9, -1:1)
      COMMON // BLANK(4) /NAMED/ FIRST, SECOND
     1       , THIRD
      COMMON /NAMED/ FOURTH
      EQUIVALENCE (VALUES(1), OTHER), (SHORT, LIKE)
      EXTERNAL FUNC
      INTRINSIC SIN
      SAVE /NAMED/, SHORT
      DATA NAME /'AB''CD'/, (TABLE(I, 0), I = 0, 9) /10*3.5/,
     &     WORDS /3*'XY'/, IHEX /Z'FF'/
      F(X, Y) = X*Y + 1
      G() = 2
      ASSIGN 100 TO LABEL
      GO TO LABEL, (100, 200)
  100 D O 10 I=1,MAXN
      IF (I .EQ. 3) GOTO 10
      IF(I-5)20,30,40
   20 VALUES(I)=F(VALUES(I),2.D0)
   30 CONTINUE
   40 IF (I.EQ.7.AND.FLAG.OR..NOT.FLAG) VALUES(I) = 1.E0*I
   10 CONTINUE
      DO 50 I = 1, 3
      DO 50 J = 1, 3
   50 TABLE(I,J-2) = I*J
      CALL SUB (VALUES, *60, *70)
   60 READ (5, 1000, END=70, ERR=70) X, (VALUES(I), I=1,3)
   70 WRITE (6, 1000) X
      WRITE (6, '(1X, A)') 'A VERY LONG CONSTANT THAT GOES OVER THE END
     1OF ITS LINE'
 1000 FORMAT (1X, 4HABCD, 'IT''S', F8.3, 2(I5, 1H,), /, 3X,
     1 9HLONG TEXT)
      GO TO (60, 70, 200), I
      PRINT 1000, X
      PAUSE 'WAIT'
  200 STOP
      END
      SUBROUTINE SUB (A, *, *)
      REAL*8 A(*)
      A(1) = 1
      RETURN 1
      ENTRY SECOND (A, *)
      RETURN
      END
      REAL FUNCTION FUNC (X)
      FUNC = X
      END
      BLOCK DATA
      COMMON /INIT/ I
      DATA I /1/
      END
